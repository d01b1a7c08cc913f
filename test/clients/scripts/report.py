"""Protocol between a client program and `run.ts`: one line of JSON for each feature."""
import asyncio
import inspect
import json
import os
import sys
import threading
import time
import urllib.parse
import urllib.request

dialect, model, features = sys.argv[1:4]
gateway_url = os.environ["GATEWAY_URL"]


def fetch_access_token() -> str:
    form = {
        "grant_type": "client_credentials",
        "client_id": os.environ["GATEWAY_CLIENT_ID"],
        "client_secret": os.environ["GATEWAY_CLIENT_SECRET"],
    }
    body = urllib.parse.urlencode(form).encode()
    with urllib.request.urlopen(os.environ["GATEWAY_TOKEN_ENDPOINT"], body, timeout=10) as response:
        return json.load(response)["access_token"]


class CachedAccessToken:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._refresh_at = 0.0

    def __call__(self) -> str:
        with self._lock:
            if time.time() >= self._refresh_at:
                self._access_token = fetch_access_token()
                self._refresh_at = time.time() + 3000
            return self._access_token


access_token = CachedAccessToken()


async def access_token_async() -> str:
    return await asyncio.to_thread(access_token)


if model.startswith("claude"):
    reasoning_field = '"signature":'
elif model.startswith("gemini"):
    reasoning_field = "thoughtSignature"
else:
    reasoning_field = "encrypted_content"

turns = ["My name is Ada.", "What is my name?", "Say it again."]
weather_question = "What is the weather in Paris?"
weather_schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def get_weather(city: str) -> str:
    """The weather of a city"""
    return f"21 degrees in {city}"


def feature(name):
    """Runs the test of one feature if it was requested."""

    def run(test):
        if name not in features.split(","):
            return
        reason = None
        try:
            outcome = test()
            if inspect.isawaitable(outcome):
                loop.run_until_complete(outcome)
        except BaseException as error:  # noqa: BLE001
            reason = f"{type(error).__name__}: {error}"[:500]
        print("RESULT " + json.dumps({"feature": name, "reason": reason}), flush=True)

    return run


loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)


def expect_text(text, part):
    if part not in str(text):
        raise AssertionError(f"expected {part!r} in {text!r}")


def expect_sent(part):
    """Checks the body of the newest request that a provider received."""
    with urllib.request.urlopen(os.environ["SIMULATOR_URL"] + "/_simulator/requests?limit=1") as response:
        expect_text(json.load(response)["data"][0]["body"], part)


def check_tools(run_tools, **reasoning):
    """Runs the features with tools. `run_tools` returns the final text. `reasoning` are its options for a model that reasons."""

    @feature("tools")
    def _():
        expect_text(run_tools(), "21 degrees in Paris")

    @feature("reasoning kept")
    def _():
        expect_text(run_tools(**reasoning), "21 degrees in Paris")
        expect_sent(reasoning_field)


def check_turns(respond):
    """Runs the multi-turn feature. `respond` returns the messages of the model's turn."""

    @feature("multi-turn")
    def _():
        messages = []
        for content in turns:
            messages.append({"role": "user", "content": content})
            messages += respond(messages)
        expect_sent("My name is Ada.")
