import json

import litellm
from report import *

if dialect == "messages":
    ask = {"model": f"anthropic/{model}", "api_base": gateway_url, "api_key": access_token(), "max_tokens": 2000, "num_retries": 0}
else:
    ask = {"model": f"openai/{model}", "api_base": f"{gateway_url}/v1", "api_key": access_token(), "num_retries": 0}

if dialect == "responses":

    def plain(response):
        return [item if isinstance(item, dict) else item.model_dump(exclude_none=True) for item in response.output]

    def text_of(output):
        # A signature of Gemini follows the message as a reasoning item.
        return "".join(part["text"] for item in output if item["type"] == "message" for part in item["content"])

    @feature("text")
    def _():
        expect_text(text_of(plain(litellm.responses(**ask, input="Say hello.", store=False))), "Say hello")

    @feature("stream")
    def _():
        text = ""
        for event in litellm.responses(**ask, input="Say hello.", store=False, stream=True):
            text += event.delta if event.type == "response.output_text.delta" else ""
        expect_text(text, "Say hello")

    def run_tools(**extra):
        tools = [{"type": "function", "name": "get_weather", "parameters": weather_schema}]
        items = [{"role": "user", "content": weather_question}]
        for _ in range(4):
            output = plain(litellm.responses(**ask, input=items, tools=tools, store=False, **extra))
            items += output
            calls = [item for item in output if item["type"] == "function_call"]
            if not calls:
                return text_of(output)
            for call in calls:
                result = get_weather(**json.loads(call["arguments"]))
                items.append({"type": "function_call_output", "call_id": call["call_id"], "output": result})
        raise AssertionError("no final response")

    check_tools(run_tools, reasoning={"effort": "medium"}, include=["reasoning.encrypted_content"])
    check_turns(lambda items: plain(litellm.responses(**ask, input=items, store=False)))

else:

    @feature("text")
    def _():
        response = litellm.completion(**ask, messages=[{"role": "user", "content": "Say hello."}])
        expect_text(response.choices[0].message.content, "Say hello")

    @feature("stream")
    def _():
        text = ""
        for chunk in litellm.completion(**ask, messages=[{"role": "user", "content": "Say hello."}], stream=True):
            text += chunk.choices[0].delta.content or ""
        expect_text(text, "Say hello")

    def run_tools(**extra):
        tools = [{"type": "function", "function": {"name": "get_weather", "parameters": weather_schema}}]
        messages = [{"role": "user", "content": weather_question}]
        for _ in range(4):
            message = litellm.completion(**ask, messages=messages, tools=tools, **extra).choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                result = get_weather(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        raise AssertionError("no final response")

    check_tools(run_tools, thinking={"type": "adaptive"})
    check_turns(lambda messages: [litellm.completion(**ask, messages=messages).choices[0].message])


@feature("embeddings")
def _():
    response = litellm.embedding(**{**ask, "model": "openai/text-embedding-3-small"}, input=["one", "two"])
    assert len(response.data) == 2
