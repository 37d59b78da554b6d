// Asks a server through OpenAI's own client, and prints what it got as JSON.
// node openai_client.mjs ADDRESS KEY EMBEDDING_MODEL
import OpenAI from "openai";

const [address, key, embeddingModel] = process.argv.slice(2);
const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: key, maxRetries: 0 });
const says = (content) => [{ role: "user", content }];
const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object", properties: { place: { type: "string" } } } } }];
const got = {};

got.models = [];
for await (const model of client.models.list()) got.models.push(model.id);

const whole = await client.chat.completions.create({ model: "given", messages: says("Hello") });
got.chat = [whole.choices[0].message.content, whole.choices[0].finish_reason, whole.usage.total_tokens];

got.streamed = "";
const stream = await client.chat.completions.create({
  model: "given", messages: says("Hello"), stream: true, stream_options: { include_usage: true },
});
for await (const chunk of stream) {
  got.streamed += chunk.choices[0]?.delta?.content ?? "";
  if (chunk.usage) got.streamedTokens = chunk.usage.total_tokens;
}

const call = await client.chat.completions.create({ model: "given", messages: says("Weather in Rome?"), tools });
got.tool = [call.choices[0].finish_reason, call.choices[0].message.tool_calls[0].function];

const answer = await client.chat.completions.create({ model: "lilbee", messages: says("When does the queen lay eggs?") });
got.cited = answer.lilbee.citations.map((one) => one.path);

const vectors = await client.embeddings.create({ model: embeddingModel, input: ["The queen", "The ferry"] });
got.vectors = vectors.data.map((one) => one.embedding);

got.errors = {};
const refused = async (name, ask) => {
  try { await ask(); got.errors[name] = "nothing"; }
  catch (error) { got.errors[name] = [error.constructor.name, error.status, error.code]; }
};
await refused("model", () => client.chat.completions.create({ model: "gpt-9", messages: says("Hello") }));
await refused("context", () => client.chat.completions.create({ model: "given", messages: says("too long") }));
await refused("key", () => new OpenAI({ baseURL: `${address}/v1`, apiKey: "wrong", maxRetries: 0 }).models.list());
console.log(JSON.stringify(got));
