"""`ctx bench`: labelled sets, the metric, the run, the report. Runs in the client process."""
