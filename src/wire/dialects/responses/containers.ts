import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { itemsOf } from '../../text-view.ts';

/** An existing container, in which a hosted tool shall run. Containers belong to the gateway's account, like responses. */
export interface ContainerReference {
	readonly id: unknown;
	readonly param: string;
}

/** Returns the containers that the tools of a request name. */
export function containersOfTools({ tools, input }: JsonObject): readonly ContainerReference[] {
	const found: ContainerReference[] = [];
	addContainers(tools, 'tools', found);
	for (const [index, item] of itemsOf(input).entries()) {
		if (isJsonObject(item) && item.tools !== undefined) addContainers(item.tools, `input[${index}].tools`, found);
	}
	return found;
}

function addContainers(tools: unknown, path: string, found: ContainerReference[]): void {
	for (const [index, tool] of itemsOf(tools).entries()) {
		if (!isJsonObject(tool)) continue;
		const { container, environment } = tool;
		if (typeof container === 'string') found.push({ id: container, param: `${path}[${index}].container` });
		const id = isJsonObject(environment) ? environment.container_id : undefined;
		if (id !== undefined && id !== null) found.push({ id, param: `${path}[${index}].environment.container_id` });
	}
}

/** Returns the container of a call of a hosted tool, which the provider may use again. */
export function containerOfItem(item: unknown): ContainerReference | undefined {
	if (!isJsonObject(item)) return undefined;
	const { container_id: id, environment } = item;
	if (id !== undefined) return { id, param: 'container_id' };
	return isJsonObject(environment) ? { id: environment.container_id, param: 'environment.container_id' } : undefined;
}
