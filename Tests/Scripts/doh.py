"""A DNS-over-HTTPS server (RFC 8484): doh.py CERTIFICATE KEY. Every name is at 127.0.0.1. Prints "port N", then a line
for each question."""
import http.server
import ssl
import struct
import sys

from child import end_with_parent, say


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        query = self.rfile.read(int(self.headers["Content-Length"]))
        labels, position = [], 12
        while query[position]:
            length = query[position]
            labels.append(query[position + 1:position + 1 + length].decode())
            position += 1 + length
        kind = struct.unpack(">H", query[position + 1:position + 3])[0]
        question = query[12:position + 5]
        say("question %s %d" % (".".join(labels), kind))
        answers = b""
        if kind == 1:
            answers = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + bytes([127, 0, 0, 1])
        head = query[:2] + struct.pack(">HHHHH", 0x8180, 1, 1 if answers else 0, 0, 0)
        body = head + question + answers
        self.send_response(200)
        self.send_header("Content-Type", "application/dns-message")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


end_with_parent()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server.socket = context.wrap_socket(server.socket, server_side=True)
say("port %d" % server.server_address[1])
server.serve_forever()
