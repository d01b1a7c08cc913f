from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from report import *

openai_options = {"base_url": f"{gateway_url}/v1", "api_key": access_token, "max_retries": 0}


def open_model(**extra):
    if dialect == "messages":
        return ChatAnthropic(model=model, base_url=gateway_url, api_key=access_token(), max_tokens=2000, max_retries=0, **extra)
    if dialect == "responses":
        return ChatOpenAI(model=model, use_responses_api=True, store=False, **openai_options, **extra)
    return ChatOpenAI(model=model, **openai_options, **extra)


@feature("text")
def _():
    expect_text(open_model().invoke("Say hello.").text, "Say hello")


@feature("stream")
def _():
    expect_text("".join(chunk.text for chunk in open_model().stream("Say hello.")), "Say hello")


def run_tools(**extra):
    agent = create_agent(open_model(**extra), tools=[get_weather])
    state = agent.invoke({"messages": [{"role": "user", "content": weather_question}]})
    return state["messages"][-1].text


if dialect == "messages":
    reasoning = {"thinking": {"type": "adaptive"}}
else:
    reasoning = {"reasoning": {"effort": "medium"}, "include": ["reasoning.encrypted_content"], "output_version": "responses/v1"}

check_tools(run_tools, **reasoning)
check_turns(lambda messages: [open_model().invoke(messages)])


@feature("embeddings")
def _():
    vectors = OpenAIEmbeddings(model="text-embedding-3-small", check_embedding_ctx_length=False, **openai_options).embed_documents(["one", "two"])
    assert len(vectors) == 2
