"""What the figures were measured on: a figure without its machine says nothing."""

import os
import platform
import re
import subprocess


def first_match(command, pattern):
    try:
        text = subprocess.run(command, capture_output=True, text=True).stdout
    except FileNotFoundError:
        return "unknown"
    found = re.search(pattern, text)
    return found.group(1).strip() if found else "unknown"


def cpu_model():
    try:
        with open("/proc/cpuinfo") as file:
            found = re.search(r"model name\s*:\s*(.+)", file.read())
    except OSError:
        return platform.machine()
    return found.group(1) if found else platform.machine()


def facts():
    environment = dict(os.environ, PATH=os.environ.get("PATH", "") + ":/usr/sbin")
    nginx = subprocess.run(["nginx", "-v"], capture_output=True, text=True, env=environment).stderr
    return {
        "cpu": cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "libcurl": first_match(["curl-config", "--version"], r"libcurl (.+)"),
        "swift": first_match(["swift", "--version"], r"Swift version (\S+)"),
        "nginx": nginx.strip().split("/")[-1],
    }


def sentence(facts):
    return (f"{facts['cpu']}, {facts['cores']} cores, Linux {facts['kernel']}, libcurl {facts['libcurl']}, "
            f"Swift {facts['swift']}, nginx {facts['nginx']} on the same machine")
