#!/usr/bin/env python3
"""Makes tests/goldens/: tiny random models of every family and rotary form, and what transformers computes with them.

    tools/make_goldens.py [FOLDER]               makes the files (default: tests/goldens)
    tools/make_goldens.py --check-exports HONE   has the binary HONE load and save each, and transformers load that

Only needed to regenerate or to check against transformers; neither the build nor the tests run Python. See
tests/goldens/README.md. Each folder is an ordinary Hugging Face folder plus goldens.safetensors, whose tensors the README
lists. Every number follows from the seeds below (weights and inputs to the bit, results to rounding).
"""

import copy
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import torch
from safetensors.torch import load_file, save_file
from transformers import (AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM,
                          Qwen3Config, Qwen3ForCausalLM)

FAMILIES = {
    "llama": (LlamaConfig, LlamaForCausalLM),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM),
}
LINEAR = {"rope_type": "linear", "factor": 4.0}
# Of the pairs of a head of 8 with theta 1e4 the first two stay, the third is smoothed, the last is slowed.
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 1024}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
TINY = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=24,
            vocab_size=40, head_dim=8, tie_word_embeddings=True)


def tiny(seed, rope=None, dtype="float32", keys="new", shards="5GB", config=(), **sizes):
    return dict(seed=seed, lengths=[17, 1, 9], temperature=1.0, theta=10000.0, max_shard_size=shards, keys=keys,
                dtype=dtype, rope=rope or {"rope_type": "default"}, config=dict(config), sizes=TINY | sizes)


# keys: "new" as transformers 5 writes config.json, "published" as the published checkpoints have it (rope_theta,
# rope_scaling, torch_dtype), "legacy" the same with `type` in place of `rope_type`.
CASES = {
    # q heads * head_dim = 64, not the model width; head shared with the embedding; one file; config as published.
    "qwen3_tied": dict(
        seed=1, lengths=[19, 6, 34], temperature=1.0, theta=10000.0, max_shard_size="5GB", keys="published",
        dtype="float32", rope={"rope_type": "default"}, config={},
        sizes=dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
                   intermediate_size=48, vocab_size=97, tie_word_embeddings=True)),
    # Odd group of 3, a head_dim that is no multiple of 8, a sequence of one token, a temperature, several shards.
    "qwen3_untied_sharded": dict(
        seed=2, lengths=[33, 1, 16], temperature=0.75, theta=1000000.0, max_shard_size="40KB", keys="new",
        dtype="float32", rope={"rope_type": "default"}, config={},
        sizes=dict(hidden_size=40, num_hidden_layers=3, num_attention_heads=3, num_key_value_heads=1, head_dim=12,
                   intermediate_size=56, vocab_size=89, tie_word_embeddings=False)),
    # As SmolLM2, with a padding id among the inputs, whose row gets no gradient from the look-up.
    "llama_default": tiny(3, dtype="bfloat16", keys="published", config={"pad_token_id": 7}),
    "llama_linear": tiny(4, LINEAR, keys="legacy", tie_word_embeddings=False, num_key_value_heads=4,
                         config={"attention_bias": True, "mlp_bias": True}),
    "llama_llama3": tiny(5, LLAMA3, dtype="float16", keys="published"),
    "llama_yarn": tiny(6, YARN | {"mscale": 1.0, "mscale_all_dim": 0.5, "truncate": False}, dtype="bfloat16",
                       tie_word_embeddings=False, shards="4KB", config={"mlp_bias": True}),
    "qwen2_default": tiny(7, dtype="bfloat16", keys="published", num_attention_heads=2, num_key_value_heads=1),
    "qwen2_linear": tiny(8, LINEAR, tie_word_embeddings=False),
    "qwen2_llama3": tiny(9, LLAMA3, dtype="float16", hidden_size=24, num_attention_heads=3, num_key_value_heads=1),
    "qwen2_yarn": tiny(10, YARN, dtype="bfloat16", keys="legacy", tie_word_embeddings=False, shards="4KB"),
    "qwen3_linear": tiny(11, LINEAR, dtype="bfloat16", keys="legacy"),
    "qwen3_llama3": tiny(12, LLAMA3, tie_word_embeddings=False, config={"attention_bias": True}),
    "qwen3_yarn": tiny(13, YARN | {"attention_factor": 1.5, "beta_fast": 8.0}, dtype="float16", keys="published",
                       config={"attention_bias": True}),
}


def make_model(name, case):
    config_class, model_class = FAMILIES[name.split("_")[0]]
    config = config_class(**case["sizes"], rms_norm_eps=1e-6, max_position_embeddings=128 if case["seed"] < 3 else 256,
                          rope_parameters=case["rope"] | {"rope_theta": case["theta"]}, bos_token_id=None,
                          eos_token_id=[2, 3], attn_implementation="eager", dtype="float32",
                          **({"attention_bias": False} if case["seed"] < 3 else {}), **case["config"])
    model = model_class(config).float().eval()
    generator = torch.Generator().manual_seed(case["seed"])
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            noise = torch.randn(weight.shape, generator=generator)
            if name.endswith("norm.weight"):
                weight.copy_(1.0 + 0.3 * noise)
            elif name.endswith(".bias"):
                weight.copy_(0.3 * noise)
            elif "embed_tokens" in name or "lm_head" in name:
                weight.copy_(0.4 * noise)
            else:
                weight.copy_(1.3 * noise / weight.shape[1] ** 0.5)
            weight.copy_(weight.to(getattr(torch, case["dtype"])))  # what the file can hold
    return model, generator


def draw_inputs(case, generator):
    """Packed tokens; the target of a row is the next token of its sequence, -1 at a sequence's end."""
    vocab, lengths = case["sizes"]["vocab_size"], case["lengths"]
    total = sum(lengths)
    ids = torch.randint(0, vocab, (total,), generator=generator)
    if "pad_token_id" in case["config"]:
        ids[[2, 11, 20]] = case["config"]["pad_token_id"]
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


def use_published_keys(folder, legacy):
    """Rewrites config.json to the keys that the published checkpoints carry."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    rope = config.pop("rope_parameters")
    theta, form = rope.pop("rope_theta"), rope.pop("rope_type")
    scaling = None if form == "default" else {"type" if legacy else "rope_type": form} | rope
    config |= {"rope_theta": theta, "rope_scaling": scaling, "torch_dtype": config.pop("dtype")}
    config.pop("layer_types", None)
    path.write_text(json.dumps(dict(sorted(config.items())), indent=2) + "\n")


def report_rounding(model, case, inputs, tensors):
    """Says how far f32 is from a run with f64 products: what a comparison has to allow."""
    exact = results(model.double(), case, [x.double() if x.is_floating_point() else x for x in inputs])
    for name, value in tensors.items():
        if value.is_floating_point() and name not in ("policy_weights", "entropy_weights", "temperature"):
            print(f"  {name}: largest {value.abs().max():.3e}, f32 is off by {(exact[name] - value).abs().max():.1e}")


def make(root):
    for name, case in CASES.items():
        print(name)
        folder = root / name
        shutil.rmtree(folder, ignore_errors=True)
        model, generator = make_model(name, case)
        inputs = draw_inputs(case, generator)
        tensors = results(model, case, inputs)
        stored = copy.deepcopy(model).to(getattr(torch, case["dtype"]))
        stored.save_pretrained(folder, max_shard_size=case["max_shard_size"])
        (folder / "generation_config.json").unlink(missing_ok=True)
        if case["keys"] != "new":
            use_published_keys(folder, case["keys"] == "legacy")
        save_file(tensors, folder / "goldens.safetensors", metadata={"format": "pt"})
        report_rounding(model, case, inputs, tensors)


def check_exports(root, hone):
    """A step of rate 0 saves each model as it was loaded: transformers has to read the same tensors and logits."""
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        subprocess.run([hone, "data", "make", "arithmetic", "--out", scratch / "data", "--train", "8", "--held-out", "4",
                        "--sft", "8", "--digits", "1"], check=True, stdout=subprocess.DEVNULL)
        for name, case in CASES.items():
            model, run = scratch / name, scratch / (name + "_run")
            shutil.copytree(root / name, model)
            shutil.copy(scratch / "data" / "tokenizer.json", model)
            (model / "generation_config.json").write_text('{"eos_token_id": 13}')
            subprocess.run([hone, "sft", "--quiet", f"data.train_files={scratch}/data/sft.jsonl", "data.prompt_key=prompt",
                            "data.response_key=response", "data.train_batch_size=4", "data.max_length=32",
                            f"model.partial_pretrain={model}", "optim.lr=0", "trainer.total_training_steps=1",
                            f"trainer.default_local_dir={run}"], check=True)
            exported = run / "checkpoints" / "global_step_1"
            loaded = AutoModelForCausalLM.from_pretrained(exported, attn_implementation="eager")
            assert loaded.dtype == torch.float32, loaded.dtype
            source = AutoModelForCausalLM.from_pretrained(root / name, dtype=torch.float32)
            state = loaded.state_dict()
            assert state.keys() == source.state_dict().keys()
            for tensor, value in source.state_dict().items():
                assert torch.equal(state[tensor], value), tensor
            golden = load_file(root / name / "goldens.safetensors")
            with torch.no_grad():
                logits = torch.cat([loaded(input_ids=part[None].long(), use_cache=False).logits[0]
                                    for part in torch.split(golden["input_ids"], case["lengths"])])
            worst = (logits - golden["logits"]).abs().max()
            assert worst < 1e-4, worst
            print(f"{name}: {len(state)} tensors equal to the bit, logits within {worst:.1e}")


def main():
    torch.set_num_threads(1)
    root = pathlib.Path(__file__).parent.parent / "tests/goldens"
    if sys.argv[1:2] == ["--check-exports"]:
        check_exports(root, pathlib.Path(sys.argv[2]).resolve())
    else:
        make(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root)


if __name__ == "__main__":
    main()
