# ipykernel through its own client: time to the first result of a new kernel, and of 1+1 in a live one. Microseconds.
# Not called ipykernel.py: Jupyter's client would import it as that.
import sys
import time

from jupyter_client.manager import start_new_kernel


def execute(client, code):
    message = client.execute(code)
    while True:
        reply = client.get_iopub_msg(timeout=60)
        if reply["parent_header"].get("msg_id") == message and reply["msg_type"] == "status" \
                and reply["content"]["execution_state"] == "idle":
            return


def show(name, values):
    values.sort()
    at = [values[min(len(values) - 1, int(part * len(values)))] * 1e6 for part in (0.1, 0.5, 0.99)]
    print(f"{name:<60} {len(values):>5} {at[0]:>9.0f} {at[1]:>9.0f} {at[2]:>9.0f}")


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    starts, executions = [], []
    for _ in range(count):
        began = time.perf_counter()
        manager, client = start_new_kernel()
        execute(client, "print(1+1)")
        starts.append(time.perf_counter() - began)
        for _ in range(50):
            began = time.perf_counter()
            execute(client, "1+1")
            executions.append(time.perf_counter() - began)
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    show("ipykernel: new kernel to print(1+1), no sandbox", starts)
    show("ipykernel: 1+1 in a live kernel", executions)


if __name__ == "__main__":
    main()
