import time

from anthropic import AsyncAnthropic
from anthropic.lib.credentials import AccessToken
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from report import *


def credentials(**_):
    return AccessToken(fetch_access_token(), int(time.time()) + 3120)


def open_model():
    if dialect == "messages":
        client = AsyncAnthropic(base_url=gateway_url, credentials=credentials, max_retries=0)
        return AnthropicModel(model, provider=AnthropicProvider(anthropic_client=client))
    provider = OpenAIProvider(openai_client=AsyncOpenAI(base_url=f"{gateway_url}/v1", api_key=access_token_async, max_retries=0))
    if dialect == "chat":
        return OpenAIChatModel(model, provider=provider)
    # For names of other vendors, pydantic-ai otherwise sends reasoning as text.
    profile = OpenAIModelProfile(openai_supports_encrypted_reasoning_content=True)
    return OpenAIResponsesModel(model, provider=provider, profile=None if model.startswith("gpt-") else profile)


settings = {"max_tokens": 2000, **({"openai_store": False} if dialect == "responses" else {})}


def open_agent(tools=(), **extra):
    return Agent(open_model(), tools=list(tools), model_settings={**settings, **extra})


@feature("text")
async def _():
    expect_text((await open_agent().run("Say hello.")).output, "Say hello")


@feature("stream")
async def _():
    async with open_agent().run_stream("Say hello.") as result:
        text = "".join([delta async for delta in result.stream_text(delta=True)])
    expect_text(text, "Say hello")


@feature("tools")
async def _():
    expect_text((await open_agent([get_weather]).run(weather_question)).output, "21 degrees in Paris")


@feature("reasoning kept")
async def _():
    if dialect == "messages":
        extra = {"anthropic_thinking": {"type": "adaptive"}}
    else:
        extra = {"openai_reasoning_effort": "medium", "openai_include_encrypted_reasoning": True}
    expect_text((await open_agent([get_weather], **extra).run(weather_question)).output, "21 degrees in Paris")
    expect_sent(reasoning_field)


@feature("multi-turn")
async def _():
    agent, history = open_agent(), []
    for content in turns:
        history = (await agent.run(content, message_history=history)).all_messages()
    expect_sent("My name is Ada.")
