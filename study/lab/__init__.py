"""The lab: settles, launches, watches and hands over. It measures every trial and judges none.

`loop.conduct` does a whole plan; `launchers.local.launcher` starts the ranks; `stop.stop_on_signals`
lets Ctrl-C end it cleanly; `machine.describe_machine` and `software.describe_software` say what it
ran on; `probe.worker_facts` asks the worker; `preflight.ready` refuses what cannot run here.
"""
