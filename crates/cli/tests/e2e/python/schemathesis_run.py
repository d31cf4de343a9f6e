"""Lets schemathesis send what it can think of to every operation of the OpenAPI."""

import os
import subprocess
import sys

URL, TOKEN = os.environ["SEAWAY_URL"], os.environ["SEAWAY_TOKEN"]

sys.exit(subprocess.run([
    os.path.join(os.path.dirname(sys.executable), "schemathesis"), "run", URL + "/v1/openapi.json",
    "--header", f"Authorization: Bearer {TOKEN}",
    "--max-examples", "20",
    "--seed", "1",
    "--phases", "examples,coverage,fuzzing",
    "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,"
                "response_schema_conformance",
    # What never ends, and what would lock the test out.
    "--exclude-path-regex", "/stream$|/claim$|^/v1/tokens",
], check=False).returncode)
