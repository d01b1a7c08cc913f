import json

from openai import OpenAI
from report import *

client = OpenAI(base_url=f"{gateway_url}/v1", api_key=access_token, max_retries=0)

if dialect == "chat":

    def create(messages, **extra):
        return client.chat.completions.create(model=model, messages=messages, **extra)

    @feature("text")
    def _():
        completion = create([{"role": "user", "content": "Say hello."}])
        expect_text(completion.choices[0].message.content, "Say hello")
        assert completion.usage.total_tokens > 0

    @feature("stream")
    def _():
        text = ""
        for chunk in create([{"role": "user", "content": "Say hello."}], stream=True):
            text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
        expect_text(text, "Say hello")

    @feature("tools")
    def _():
        tools = [{"type": "function", "function": {"name": "get_weather", "parameters": weather_schema}}]
        messages = [{"role": "user", "content": weather_question}]
        message = create(messages, tools=tools).choices[0].message
        messages.append(message)
        for call in message.tool_calls:
            result = get_weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        expect_text(create(messages, tools=tools).choices[0].message.content, "21 degrees in Paris")

    check_turns(lambda messages: [create(messages).choices[0].message])

else:
    tools = [{"type": "function", "name": "get_weather", "parameters": weather_schema, "strict": False}]

    @feature("text")
    def _():
        response = client.responses.create(model=model, input="Say hello.", store=False)
        expect_text(response.output_text, "Say hello")

    @feature("stream")
    def _():
        text = ""
        with client.responses.stream(model=model, input="Say hello.", store=False) as stream:
            for event in stream:
                text += event.delta if event.type == "response.output_text.delta" else ""
            expect_text(stream.get_final_response().output_text, "Say hello")
        expect_text(text, "Say hello")

    def run_tools(**extra):
        items = [{"role": "user", "content": weather_question}]
        for _ in range(4):
            response = client.responses.create(model=model, input=items, tools=tools, store=False, **extra)
            items += response.output
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                return response.output_text
            for call in calls:
                result = get_weather(**json.loads(call.arguments))
                items.append({"type": "function_call_output", "call_id": call.call_id, "output": result})
        raise AssertionError("no final response")

    check_tools(run_tools, reasoning={"effort": "medium"}, include=["reasoning.encrypted_content"])
    check_turns(lambda items: client.responses.create(model=model, input=items, store=False).output)


@feature("embeddings")
def _():
    response = client.embeddings.create(model="text-embedding-3-small", input=["one", "two"])
    assert len(response.data) == 2 and len(response.data[1].embedding) > 1
