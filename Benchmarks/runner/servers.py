"""The servers on this machine: one nginx for bodies and TLS, `holder` and `limited` for what nginx can't do."""

import gzip
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from works import Addresses

MIB = 1024 * 1024
CONNECTION_RATE = 20e6  # bytes a second of one connection to `limited`

# One worker: on two cores client and server then have a core each; a second one takes turns with the client.
NGINX = """
{user}
daemon off;
worker_processes 1;
worker_rlimit_nofile {descriptors};
pid {root}/nginx.pid;
error_log {root}/error.log warn;
events {{ worker_connections 16384; multi_accept on; }}
http {{
  access_log off;
  client_body_temp_path {root}/body;
  proxy_temp_path {root}/proxy;
  fastcgi_temp_path {root}/fastcgi;
  uwsgi_temp_path {root}/uwsgi;
  scgi_temp_path {root}/scgi;
  default_type application/octet-stream;
  sendfile on;
  sendfile_max_chunk 2m;
  tcp_nodelay on;
  output_buffers 2 512k;
  open_file_cache max=64;
  open_file_cache_valid 1h;
  keepalive_timeout 1h;
  keepalive_time 24h;
  keepalive_requests 1000000000;
  client_max_body_size 0;
  send_timeout 10m;
  client_body_timeout 10m;
  http2_max_concurrent_streams 1024;
  http2_chunk_size 16k;
  ssl_certificate {root}/leaf.pem;
  ssl_certificate_key {root}/leaf.key;
  ssl_protocols TLSv1.2 TLSv1.3;
  ssl_session_cache shared:bench:4m;
  ssl_buffer_size 16k;
  server {{
    listen 127.0.0.1:{plain} backlog=8192;
    listen 127.0.0.1:{tls1} ssl backlog=8192;
    listen 127.0.0.1:{tls2} ssl http2 backlog=8192;
    server_name localhost;
    root {root}/www;
    location = /none {{ return 200; }}
    location ~ ^/(stall|sink)$ {{
      proxy_pass http://127.0.0.1:{holder};
      proxy_http_version 1.1;
      proxy_request_buffering off;
      proxy_read_timeout 10m;
      proxy_send_timeout 10m;
    }}
  }}
}}
"""


class ServerError(Exception):
    pass


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def raise_descriptor_limit():
    """Children inherit it: thousands of open streams need as many descriptors."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65536 if hard == resource.RLIM_INFINITY else hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted


def roomy_directory(needed):
    """Memory-backed where there is room, so that the disk is not measured."""
    memory = pathlib.Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2 * needed:
        return str(memory)
    return None


def row(number):
    """A line of NDJSON of 200 bytes."""
    text = json.dumps({"id": 100000 + number, "name": "a name of some length", "tags": ["red", "green", "blue"],
                       "score": 0.8725, "text": "lorem ipsum " * 8}, separators=(",", ":"))
    return (text[:-2].ljust(197, ".")[:197] + '"}\n').encode()


class Servers:
    """A context: everything is up inside it; processes and files are gone after it."""

    def __init__(self, holder_program, sizes):
        self.holder_program = holder_program
        self.sizes = sizes
        self.processes = []
        self.addresses = None

    def __enter__(self):
        parent = roomy_directory(self.sizes.large)
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="penstock-bench-", dir=parent))
        self.disk = pathlib.Path(tempfile.mkdtemp(prefix="penstock-bench-"))
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        # A second Ctrl-C must not cut the clean-up short.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.rmtree(self.disk, ignore_errors=True)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.default_int_handler)

    def start(self):
        descriptors = raise_descriptor_limit()
        os.chmod(self.root, 0o755)
        self.write_bodies()
        self.write_certificates()
        # Sessions of their own: Ctrl-C reaches the runner alone, which then ends them in order.
        holder_port = self.start_peer([self.holder_program])
        limited = pathlib.Path(__file__).resolve().parent / "limited.py"
        limited_port = self.start_peer([sys.executable, limited, str(self.sizes.limited), str(CONNECTION_RATE)])
        plain, tls1, tls2 = free_ports(3)
        configuration = self.root / "nginx.conf"
        configuration.write_text(NGINX.format(
            user="user root;" if os.getuid() == 0 else "", root=self.root, descriptors=descriptors,
            plain=plain, tls1=tls1, tls2=tls2, holder=holder_port))
        nginx = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
        if not nginx:
            raise ServerError("nginx is not installed")
        self.processes.append(subprocess.Popen(
            [nginx, "-c", configuration, "-e", self.root / "error.log"], start_new_session=True))
        self.wait_for(tls2)
        self.addresses = Addresses(
            plain=f"http://127.0.0.1:{plain}", tls1=f"https://127.0.0.1:{tls1}",
            tls2=f"https://127.0.0.1:{tls2}", holder=f"http://127.0.0.1:{holder_port}",
            limited=f"http://127.0.0.1:{limited_port}/",
            cacert=str(self.root / "ca.pem"),
            memory_file=str(self.root / "download"), disk_file=str(self.disk / "download"),
            urls=str(self.root / "urls"), aria2=str(self.root / "aria2"))
        self.write_urls()

    def start_peer(self, command):
        """Starts a peer that says which port it has."""
        peer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.processes.append(peer)
        port = int(peer.stdout.readline() or 0)
        if not port:
            raise ServerError(f"{command[0]} did not start")
        return port

    def wait_for(self, port):
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and self.processes[-1].poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.02)
        log = self.root / "error.log"
        raise ServerError("nginx did not start: " + (log.read_text() if log.exists() else ""))

    def write_urls(self):
        url = self.addresses.plain + "/10k?"
        with open(self.addresses.urls, "w") as file:
            file.writelines(f"{url}{number}\n" for number in range(self.sizes.batch))
        with open(self.addresses.aria2, "w") as file:
            file.writelines(f"{url}{number}\n out={number}\n" for number in range(self.sizes.batch // 20))

    def write_bodies(self):
        folder = self.root / "www"
        folder.mkdir()
        block = os.urandom(MIB)
        (folder / "1k").write_bytes(block[:1024])
        (folder / "10k").write_bytes(block[:10240])
        (folder / "medium").write_bytes(block * 16)
        with open(folder / "large", "wb") as file:
            for _ in range(self.sizes.large // MIB):
                file.write(block)
        rows = b"".join(row(number) for number in range(5000))
        with open(folder / "rows", "wb") as file:
            for _ in range(self.sizes.large // len(rows) + 1):
                file.write(rows)
        packed = gzip.compress(rows, 6)
        with open(folder / "rows.gz", "wb") as file:
            for _ in range(self.sizes.large // len(rows) + 1):
                file.write(packed)
        elements = rows.rstrip(b"\n").replace(b"\n", b",")
        with open(folder / "elements", "wb") as file:
            file.write(b'{"data":{"items":[' + elements)
            for _ in range(self.sizes.large // len(elements)):
                file.write(b"," + elements)
            file.write(b"]}}")
        (folder / "json").write_bytes(row(0))

    def write_certificates(self):
        def openssl(*arguments):
            subprocess.run(["openssl", *arguments], cwd=self.root, check=True, capture_output=True)

        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "30",
                "-subj", "/CN=Penstock benchmark CA")
        openssl("req", *key, "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/CN=localhost")
        (self.root / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        openssl("x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                "-CAcreateserial", "-days", "30", "-extfile", "names", "-out", "leaf.pem")
