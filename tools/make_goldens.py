#!/usr/bin/env python3
"""Makes tests/goldens/: two tiny random Qwen3 models and what transformers computes with them in f32.

Only needed to regenerate the files; neither the build nor the tests run Python. See tests/goldens/README.md.
Each folder is an ordinary Hugging Face folder plus goldens.safetensors, whose tensors the README lists.
Every number follows from the fixed seeds below (weights and inputs to the bit, results to rounding).
"""

import json
import pathlib
import shutil
import sys

import torch
from safetensors.torch import save_file
from transformers import Qwen3Config, Qwen3ForCausalLM

CASES = {
    # q heads * head_dim = 64, not the model width; head shared with the embedding; one file; config as published.
    "qwen3_tied": dict(
        seed=1, lengths=[19, 6, 34], temperature=1.0, theta=10000.0, max_shard_size="5GB", published_config=True,
        sizes=dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
                   intermediate_size=48, vocab_size=97, tie_word_embeddings=True)),
    # Odd group of 3, a head_dim that is no multiple of 8, a sequence of one token, a temperature, several shards.
    "qwen3_untied_sharded": dict(
        seed=2, lengths=[33, 1, 16], temperature=0.75, theta=1000000.0, max_shard_size="40KB", published_config=False,
        sizes=dict(hidden_size=40, num_hidden_layers=3, num_attention_heads=3, num_key_value_heads=1, head_dim=12,
                   intermediate_size=56, vocab_size=89, tie_word_embeddings=False)),
}


def make_model(case):
    config = Qwen3Config(**case["sizes"], rms_norm_eps=1e-6, max_position_embeddings=128, attention_bias=False,
                         rope_parameters={"rope_type": "default", "rope_theta": case["theta"]},
                         bos_token_id=None, eos_token_id=[2, 3], attn_implementation="eager", dtype="float32")
    model = Qwen3ForCausalLM(config).float().eval()
    generator = torch.Generator().manual_seed(case["seed"])
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            noise = torch.randn(weight.shape, generator=generator)
            if name.endswith("norm.weight"):
                weight.copy_(1.0 + 0.3 * noise)
            elif "embed_tokens" in name or "lm_head" in name:
                weight.copy_(0.4 * noise)
            else:
                weight.copy_(1.3 * noise / weight.shape[1] ** 0.5)
    return model, generator


def draw_inputs(case, generator):
    """Packed tokens; the target of a row is the next token of its sequence, -1 at a sequence's end."""
    vocab, lengths = case["sizes"]["vocab_size"], case["lengths"]
    total = sum(lengths)
    ids = torch.randint(0, vocab, (total,), generator=generator)
    cu_seqlens = torch.tensor([0] + lengths).cumsum(0)
    targets = torch.roll(ids, -1)
    targets[cu_seqlens[1:] - 1] = -1
    # About a third of the rows is masked (a prompt); policy weights have both signs, as advantages have.
    counts = ((torch.rand(total, generator=generator) > 0.3) & (targets >= 0)).float()
    policy = torch.randn(total, generator=generator) * counts / counts.sum()
    entropy = -0.2 * torch.rand(total, generator=generator) * counts / counts.sum()
    return ids, cu_seqlens, targets, policy, entropy


def results(model, case, inputs):
    ids, cu_seqlens, targets, policy, entropy_weights = inputs
    model.zero_grad()
    logits = torch.cat([model(input_ids=part[None], use_cache=False).logits[0]
                        for part in torch.split(ids, case["lengths"])])  # each sequence alone: no padding, no packing
    logp = torch.log_softmax(logits / case["temperature"], dim=-1)
    chosen = logp.gather(1, targets.clamp(min=0)[:, None])[:, 0]
    chosen = torch.where(targets >= 0, chosen, 0.0)
    entropy = -(logp.exp() * logp).sum(-1)
    loss = (policy * chosen + entropy_weights * entropy).sum()
    loss.backward()
    tensors = {
        "input_ids": ids.int(), "cu_seqlens": cu_seqlens.int(), "targets": targets.int(),
        "temperature": torch.tensor([case["temperature"]]), "policy_weights": policy,
        "entropy_weights": entropy_weights, "logits": logits.detach(), "logprobs": chosen.detach(),
        "entropy": entropy.detach(), "loss": loss.detach().reshape(1),
    }
    tensors |= {"grad." + name: weight.grad.clone() for name, weight in model.named_parameters()}
    return {name: value.contiguous() for name, value in tensors.items()}


def use_published_config(folder):
    """Rewrites config.json to the keys that the published Qwen3 checkpoints carry."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    rope = config.pop("rope_parameters")
    config |= {"rope_theta": rope["rope_theta"], "rope_scaling": None, "torch_dtype": config.pop("dtype")}
    config.pop("layer_types", None)
    path.write_text(json.dumps(dict(sorted(config.items())), indent=2) + "\n")


def report_rounding(model, case, inputs, tensors):
    """Says how far f32 is from a run with f64 products: what a comparison has to allow."""
    exact = results(model.double(), case, [x.double() if x.is_floating_point() else x for x in inputs])
    for name, value in tensors.items():
        if value.is_floating_point() and name not in ("policy_weights", "entropy_weights", "temperature"):
            print(f"  {name}: largest {value.abs().max():.3e}, f32 is off by {(exact[name] - value).abs().max():.1e}")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "tests/goldens")
    torch.set_num_threads(1)
    for name, case in CASES.items():
        print(name)
        folder = root / name
        shutil.rmtree(folder, ignore_errors=True)
        model, generator = make_model(case)
        inputs = draw_inputs(case, generator)
        tensors = results(model, case, inputs)
        model.save_pretrained(folder, max_shard_size=case["max_shard_size"])
        (folder / "generation_config.json").unlink(missing_ok=True)
        if case["published_config"]:
            use_published_config(folder)
        save_file(tensors, folder / "goldens.safetensors", metadata={"format": "pt"})
        report_rounding(model, case, inputs, tensors)


if __name__ == "__main__":
    main()
