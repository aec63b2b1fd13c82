"""Starts moto so that it answers one request after the other.

moto checks the condition of a write and then writes, without a lock around both. With a thread for each request, two of
many conditional writes succeed now and then. Bodies are read outside of the lock, so a slow client holds up no other.
"""

import io
import threading

import moto.server


def serialized(application):
    """The same application, of which only one request runs at a time."""
    lock = threading.Lock()

    def one_at_a_time(environ, start_response):
        body = environ["wsgi.input"]
        length = int(environ.get("CONTENT_LENGTH") or 0)
        chunked = environ.get("wsgi.input_terminated", False)
        environ["wsgi.input"] = io.BytesIO(body.read() if chunked else body.read(length))
        with lock:
            answer = application(environ, start_response)
            try:
                return list(answer)
            finally:
                if hasattr(answer, "close"):
                    answer.close()

    return one_at_a_time


def run_serialized(host, port, application, **options):
    run_threaded(host, port, serialized(application), **options)


if __name__ == "__main__":
    run_threaded, moto.server.run_simple = moto.server.run_simple, run_serialized
    moto.server.main()
