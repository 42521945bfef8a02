# Short names for the scripts in tools/, which do the work; see docs/development.md.
.PHONY: hone test quickstart format asan tsan
hone:
	@tools/build.sh release hone
test:
	@tools/test.sh
quickstart:
	@tools/quickstart.sh
format:
	@tools/check_format --fix
asan tsan:
	@tools/sanitize.sh $@
