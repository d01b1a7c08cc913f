from agents import (
    Agent,
    ModelSettings,
    OpenAIProvider,
    RunConfig,
    Runner,
    SQLiteSession,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI
from openai.types.shared import Reasoning
from report import *

# Traces go to OpenAI's own endpoint, not to the gateway.
set_tracing_disabled(True)
client = AsyncOpenAI(base_url=f"{gateway_url}/v1", api_key=access_token_async, max_retries=0)
config = RunConfig(model_provider=OpenAIProvider(openai_client=client, use_responses=dialect == "responses"))
weather_tool = function_tool(get_weather)


def open_agent(tools=(), **settings):
    return Agent(name="agent", model=model, tools=list(tools), model_settings=ModelSettings(store=False, **settings))


async def run(agent, text, **extra):
    return (await Runner.run(agent, text, run_config=config, **extra)).final_output


@feature("text")
async def _():
    expect_text(await run(open_agent(), "Say hello."), "Say hello")


@feature("stream")
async def _():
    result = Runner.run_streamed(open_agent(), "Say hello.", run_config=config)
    text = ""
    async for event in result.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            text += event.data.delta
    expect_text(text, "Say hello")


@feature("tools")
async def _():
    expect_text(await run(open_agent([weather_tool]), weather_question), "21 degrees in Paris")


@feature("reasoning kept")
async def _():
    agent = open_agent([weather_tool], reasoning=Reasoning(effort="medium"), response_include=["reasoning.encrypted_content"])
    expect_text(await run(agent, weather_question), "21 degrees in Paris")
    expect_sent(reasoning_field)


@feature("multi-turn")
async def _():
    session = SQLiteSession("session")
    for content in turns:
        await run(open_agent(), content, session=session)
    expect_sent("My name is Ada.")
