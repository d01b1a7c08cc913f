/** The OpenAPI document as an HTML page that loads no other resources. */
import { createHash } from 'node:crypto';
import type { OpenApiDocument } from './open-api.ts';

type Json = Readonly<Record<string, unknown>>;

const style = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; color: #1b1b1b; background: #fff }
code, pre { font: 13px/1.4 ui-monospace, monospace } pre { background: #f3f3f3; overflow: auto; padding: .75rem }
h2 { border-bottom: 1px solid #ccc; margin-top: 2.5rem } summary { cursor: pointer; padding: .3rem 0 } td, th { padding: .1rem .8rem .1rem 0; text-align: left; vertical-align: top }
.method { display: inline-block; font-weight: 700; width: 4.5rem }
@media (prefers-color-scheme: dark) { body { background: #161616; color: #e6e6e6 } pre { background: #242424 } a { color: #8ab4f8 } }
`;

export const docsPolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

export function docsPage({ info, paths, components }: OpenApiDocument): string {
	const operations = Object.entries(paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
	);
	const sections = [...Map.groupBy(operations, ({ operation }) => String((operation['tags'] as string[])[0]))].map(
		([tag, ofTag]) => `<h2>${escaped(tag)}</h2>${ofTag.map(({ path, method, operation }) => section(method, path, operation)).join('')}`,
	);
	const schemas = Object.entries(components.schemas).map(
		([name, schema]) => `<details id="${escaped(name)}"><summary><code>${escaped(name)}</code></summary>${pretty(schema)}</details>`,
	);
	return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(info['title'])}</title><style>${style}</style></head>
<body><h1>${escaped(info['title'])} ${escaped(info['version'])}</h1><p>${escaped(info['description'])} For machines: <a href="/openapi.json">openapi.json</a>.</p>
${sections.join('\n')}<h2>Schemas</h2>${schemas.join('\n')}</body></html>`;
}

function section(method: string, path: string, operation: Json): string {
	const { summary, description, parameters, requestBody, responses, security } = operation;
	const scopes = ((security ?? []) as { bearer: readonly string[] }[]).flatMap(({ bearer }) => bearer).map((scope) => `\`${scope}\``);
	const rows = ((parameters ?? []) as Json[]).map(
		({ name, in: place, description: meaning }) =>
			`<tr><td><code>${escaped(name)}</code></td><td>${escaped(place)}</td><td>${escaped(meaning ?? '')}</td></tr>`,
	);
	const responseRows = Object.entries(responses as Record<string, Json>).map(
		([status, response]) => `<tr><td>${status}</td><td>${escaped(response['description'])} ${links(response)}</td></tr>`,
	);
	return `<details><summary><code><span class="method">${method}</span>${escaped(path)}</code> ${escaped(summary)}</summary>
<p>${escaped(description ?? '')}</p><p>${escaped(scopes.length === 0 ? 'No access token.' : `One of the scopes ${scopes.join(', ')}.`)}</p>${rows.length === 0 ? '' : `<table>${rows.join('')}</table>`}
${requestBody === undefined ? '' : `<p>Body: ${links(requestBody)}</p>`}<table>${responseRows.join('')}</table></details>`;
}

/** Links the named schemas of a body. */
function links(owner: unknown): string {
	const names = [...JSON.stringify(owner).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name);
	return names.map((name) => `<a href="#${name}">${name}</a>`).join(' ');
}

function pretty(value: unknown): string {
	return `<pre>${escaped(JSON.stringify(value, null, 2))}</pre>`;
}

/** Escapes HTML and renders text between backticks as code. */
function escaped(value: unknown): string {
	const text = String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
	return text.replace(/`([^`]+)`/g, '<code>$1</code>');
}
