# -- the conversation with hone ---------------------------------------------------------------------------------------


def _read_exactly(stream, size):
    data = stream.read(size)
    if len(data) != size:
        sys.exit(0)  # hone has gone
    return data


MOST_SAID = 4000  # characters of a fault


def _failed(error):
    if isinstance(error, ModuleNotFoundError):
        return {"missing_module": (error.name or "").split(".")[0], "python": sys.executable}
    if isinstance(error, Failure):
        return {"error": str(error)[:MOST_SAID]}
    if isinstance(error, MemoryError):
        return {"error": "more memory is needed than the limit allows"}
    if isinstance(error, RecursionError):
        return {"error": "nested too deeply"}
    return {"error": ("the Python worker fails: %s: %s" % (type(error).__name__, error))[:MOST_SAID]}


def _encoded(reply):
    return json.dumps(reply, ensure_ascii=False).encode("utf-8", "replace")


def _answer(message):
    """The reply to a request, as bytes. No exception ends the process: hone names the row that the request was for."""
    try:
        request = json.loads(message.decode("utf-8"))
        if request["operation"] not in WITHOUT_ALARM:
            # Ends this process should the request last longer, also when hone is gone: its default action.
            signal.setitimer(signal.ITIMER_REAL, request["seconds"])
        return _encoded(OPERATIONS[request["operation"]](request))
    except Exception as error:
        return _encoded(_failed(error))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main():
    stream = os.fdopen(os.dup(0), "rb")
    channel = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # prints of templates and scorers do not mix with replies
    process = os.getpid()
    while True:
        (size,) = struct.unpack("<I", _read_exactly(stream, 4))
        reply = _answer(_read_exactly(stream, size))
        if os.getpid() != process:
            os._exit(1)  # a copy that the user's code made and let come back here
        data = struct.pack("<I", len(reply)) + reply
        while data:
            data = data[os.write(channel, data) :]


main()
