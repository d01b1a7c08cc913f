import time

from anthropic import Anthropic
from anthropic.lib.credentials import AccessToken
from report import *

client = Anthropic(
    base_url=gateway_url,
    credentials=lambda **_: AccessToken(fetch_access_token(), int(time.time()) + 3120),
    max_retries=0,
)
ask = {"model": model, "max_tokens": 2000}


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


@feature("text")
def _():
    message = client.messages.create(**ask, messages=[{"role": "user", "content": "Say hello."}])
    expect_text(text_of(message), "Say hello")


@feature("stream")
def _():
    with client.messages.stream(**ask, messages=[{"role": "user", "content": "Say hello."}]) as stream:
        text = "".join(stream.text_stream)
        expect_text(text_of(stream.get_final_message()), text)
    expect_text(text, "Say hello")


def run_tools(**extra):
    tools = [{"name": "get_weather", "description": "The weather of a city", "input_schema": weather_schema}]
    messages = [{"role": "user", "content": weather_question}]
    for _ in range(4):
        message = client.messages.create(**ask, messages=messages, tools=tools, **extra)
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return text_of(message)
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": get_weather(**call.input)} for call in calls]
        messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
    raise AssertionError("no final response")


def respond(messages):
    return [{"role": "assistant", "content": client.messages.create(**ask, messages=messages).content}]


check_tools(run_tools, thinking={"type": "adaptive"})
check_turns(respond)
