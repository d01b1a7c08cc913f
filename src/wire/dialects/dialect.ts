import type { CooperativeTask } from '../../core/cooperative-task.ts';
import type { CacheWrites, InputContent, Surcharges } from '../../core/cost-factors.ts';
import type { ClientDialectName, ConversationDialectName, DialectName } from '../../core/dialect-name.ts';
import type { Usage } from '../../core/usage.ts';
import type { RequestReader, RequestVariant, RequestWriter } from '../conversation/request-translation.ts';
import type { ResponseReading, ResponseWriting } from '../conversation/response.ts';
import type { ResponseTranslation } from '../conversation/translation.ts';
import type { EventBatch } from '../events/event-batch.ts';
import type { MarkLine } from '../events/event-boundaries.ts';
import type { GatewayError } from '../gateway-error.ts';
import type { JsonBody, JsonObject } from '../json/parse-body.ts';
import type { Edit } from '../json/splice-body.ts';
import type { ProviderKind } from '../providers/provider.ts';
import type { Repair, RepairTarget } from '../repair-parameters.ts';
import type { TextViews } from '../text-view.ts';
import type { RequestedOutput } from '../usage/request-facts.ts';
import type { UsageReader } from '../usage/usage-reader.ts';
import type { VendorFields } from '../vendor-fields.ts';
import type { ProviderState, StateMode } from './state.ts';

/** One vendor's format on the provider side. */
export interface Dialect {
	readonly name: DialectName;
	/** For a variant of a client dialect: requests are adapted and responses are repaired, everything else passes unchanged. */
	readonly variant?: DialectVariant;
	/** Location of usage in responses of this format. */
	readonly usage: UsageReader;
	/** Top-level members besides `model` that the gateway edits; their ranges in the body are needed. */
	readonly editedMembers: readonly string[];
	/** Returns the edits that make a stream report usage. */
	requestUsage(body: JsonBody): readonly Edit[];
	/** Returns a written request for a server that rejects the option for usage in streams. */
	withoutUsageOption(body: JsonObject): JsonObject;
	/** Returns the edits by which the provider stores nothing of a request, for a format whose providers store it by default. */
	storageEdits?(body: JsonBody, state: StateMode): readonly Edit[];
	/** For a format with encrypted reasoning that only the account that generated it can decrypt. */
	readonly undecryptableReasoning?: UndecryptableReasoning;
	/** Returns the maximum output that a request asks for. */
	requestedOutput(body: JsonObject): RequestedOutput;
	/** Returns the edits that cap the output of a request. @param body with the ranges of the cap members located. */
	writeCap(body: JsonBody, tokens: number): readonly Edit[];
	/** For a format in which a request can limit the calls of tools that its provider runs. */
	readonly toolCallCap?: ToolCallCap;
	/** Returns the most expensive prompt cache writes that a request may cause. */
	cacheWrites(bytes: Buffer): CacheWrites;
	/**
	 * True if a request asks for thinking, false if it turns thinking off; undefined if it does not say. A field of another dialect turns
	 * nothing off.
	 */
	requestsThinking(members: JsonObject): boolean | undefined;
	/** Options of requests that cost more than the list price. */
	readonly surcharges: Surcharges;
	/** Detects the lines by which a stream of this format reports completion or failure. */
	readonly markLine: MarkLine;
	/**
	 * True if a stream that ended in order without its terminal event is complete.
	 * @param tail the last bytes of the stream, a few KB.
	 */
	isComplete(tail: Buffer): boolean;
	/** True if the content of a stream is complete and its usage is expected next. @param tail as above. */
	reportsUsageNext(tail: Buffer): boolean;
}

export interface ToolCallCap {
	/** Returns the client's limit; undefined if it sets none. */
	requested(members: JsonObject): number | undefined;
	/** @param body with the range of the member located. */
	write(body: JsonBody, calls: number): readonly Edit[];
}

/** Repair of a request whose encrypted reasoning its provider cannot decrypt. */
export interface UndecryptableReasoning {
	readonly warning: string;
	/** @param body of a response with status 400. */
	isRejected(body: Buffer): boolean;
	/** Returns the edits that remove the reasoning; none if there is none, or the request is impossible without it. */
	cuts(body: JsonBody): readonly Edit[];
}

export interface DialectVariant extends RequestVariant {
	readonly of: ClientDialectName;
	readonly responses: ResponseTranslation;
}

/** A dialect of conversations on the provider side: translated through the typed conversation. */
export interface ConversationDialect extends Dialect {
	readonly name: ConversationDialectName;
	readonly requestWriter: RequestWriter;
	readonly responses: ResponseReading;
}

/** Follows a stream as its client receives it, so that it can be ended before its provider ends it. */
export interface CapEnding {
	push(events: EventBatch): void;
	/** Returns the remaining events of a response that reached its output cap. Undefined if no byte of the response was sent yet. */
	end(usage: Usage): EventBatch | undefined;
}

/** Follows a stream as its client receives it, for error events that depend on the events before. */
export interface ErrorEnding {
	/** @param bytes of complete events. */
	push(bytes: Buffer): void;
	/** Returns the events that end the broken stream. */
	end(error: GatewayError): readonly Buffer[];
}

/** The gateway's errors in the terms of one format's clients. */
export interface ClientErrors {
	describe(error: GatewayError): GatewayError;
	/** Maximum of `retry-after`. */
	readonly maxRetryAfterSeconds: number;
}

/** One vendor's format on the client side, which providers may use too. */
export interface ClientDialect extends Dialect {
	readonly name: ClientDialectName;
	/**
	 * Checks the fields that the gateway relies on and values that no provider could accept. Unknown fields, roles and part types pass,
	 * because the provider's own error says more.
	 * @throws `Rejection` `field_missing`, `field_invalid` with the JSON path in `param`.
	 */
	validate(body: JsonObject, state?: StateMode): void;
	/** Undefined for a format whose providers keep no state. */
	readonly state?: ProviderState;
	/** Returns the field by which clients name what shares a prompt cache, such as a conversation. It can have any value. */
	sessionOf?(members: JsonObject): unknown;
	/**
	 * Rejects a request that providers of a kind cannot serve, although they serve the dialect.
	 * @throws `Rejection` `field_invalid`.
	 */
	requireServable?(members: JsonObject, kind: ProviderKind): void;
	/** Returns a non-streaming response in the form that its request asks for. Undefined if it has that form, or cannot get it. */
	fitResponse?(body: Buffer, request: JsonObject): CooperativeTask<Buffer | undefined>;
	/** Texts of requests and responses for guardrails. */
	readonly textViews: TextViews;
	/** For a stream that ends as if its output cap were reached. @param request the client's. */
	followToCap(request: JsonObject): CapEnding;
	/** Returns the input of a request whose size does not follow from its bytes. */
	inputContent(members: JsonObject): InputContent;
	/** Fields that other vendors may have added to a conversation. */
	readonly vendorFields: VendorFields;
	/** Returns the repair of parameters that the target's model is known to reject. Undefined to leave the request unchanged. */
	repair(members: JsonObject, target: RepairTarget): Repair | undefined;
	/** Kind of provider whose price list contains the models of this dialect's vendor. */
	readonly vendorKind: ProviderKind;
	/** Returns a field by which a request continues turns stored at the vendor, where the gateway cannot read them. */
	storedTurnsField(members: JsonObject): string | undefined;
	/** True if requests contain tool arguments as JSON values, whose numbers lose digits unless parsed exactly. False if they are texts. */
	readonly hasArgumentValues: boolean;
	/** Renders a complete event that ends a broken stream and that the format's SDKs raise as an error. */
	renderErrorEvent(error: GatewayError): Buffer;
	/** Takes precedence over `renderErrorEvent` where events were received. */
	followToError?(): ErrorEnding;
	/** Undefined if clients take the gateway's errors as they are. */
	readonly clientErrors?: ClientErrors;
}

/** A dialect of conversations on both sides. */
export interface ClientConversationDialect extends ClientDialect, ConversationDialect {
	readonly name: ClientDialectName & ConversationDialectName;
	readonly readRequest: RequestReader;
	readonly writtenResponses: ResponseWriting;
}
