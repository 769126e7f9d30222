"""A kubelet and a scheduler for the stand-in cluster: its pods run for real, as processes.

    with Cluster(tls=True, kubelet=True) as a, Cluster(tls=True, kubelet=True) as b:
        a.nodes.add("a1", {"nvidia.com/gpu": "8"})
        b.nodes.add("b1", {"nvidia.com/gpu": "8"})
        # Register both by `a.kubeconfig()` and `b.kubeconfig()`, and let runs make Jobs in them:
        # the scheduler binds their pods, the kubelet runs their containers. See tests/stack.py for
        # a server in a process of its own.
        pod = a.kubelet.wait_for(phase="Running")
        a.kubelet.lose_node("a1", processes="die")
        # The run goes on in b. A node that comes back says how its pods ended:
        a.kubelet.bring_back("a1")

As root, each container has namespaces of its own: it is pid 1, sees its volumes at their paths, a
read-only root if it asks for one, its user, its host name and the names of its headless Service.
Each pod has an address of its own in 127.0.0.0/8, in the network of this machine. Any image is this
machine's system and this Python with its packages, read-only. Other folders are shown by
`image_paths`.

An ordinary user gets folders instead: the paths of volumes are replaced in command, arguments and
variables, and `POD_HOSTS_FILE` names the hosts file that /etc/hosts would be.

Faults are methods of the kubelet: `lose_node`, `bring_back`, `kill`, `oom`, `evict`, `evict_for`,
`duplicate`, `hold_volumes`, `hold_removal`, and those of its `images`: `forbid`, `fail`,
`make_private`, `hold`, `allow`. Its end asserts that no process and no mount is left.
"""
