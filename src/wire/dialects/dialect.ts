import type { CacheWrites, InputContent, Surcharges } from '../../core/cost-factors.ts';
import type { ClientDialectName, DialectName } from '../../core/dialect-name.ts';
import type { Usage } from '../../core/usage.ts';
import type { RequestReader, RequestWriter } from '../conversation/request-translation.ts';
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

/** One vendor's format, as providers speak it. */
export interface Dialect {
	readonly name: DialectName;
	readonly requestWriter: RequestWriter;
	readonly responses: ResponseReading;
	/** Where the dialect is that of clients with deviations: what deviates is repaired, and all else passes. */
	readonly repairs?: { readonly of: ClientDialectName; readonly responses: ResponseTranslation };
	/** Where answers of this format tell of usage. */
	readonly usage: UsageReader;
	/** Top-level members that the gateway changes alone, beside `model`: edits need their place in the body. */
	readonly editedMembers: readonly string[];
	/** What to change in a request so that its stream tells of usage. */
	askForUsage(body: JsonBody): readonly Edit[];
	/** A written request for a server that rejects to be asked for the usage of a stream. */
	withoutUsageOption(body: JsonObject): JsonObject;
	/** What a request asks for at most. */
	requestedOutput(body: JsonObject): RequestedOutput;
	/** What to change in a request so that it asks for so many tokens at most. @param body with the places of the members that caps stand in known. */
	writeCap(body: JsonBody, tokens: number): readonly Edit[];
	/** The writes to prompt caches that a request may cause at most. */
	cacheWrites(bytes: Buffer): CacheWrites;
	/** Whether a request asks for thinking, or turns it off; undefined: it does not say. What is another dialect's field turns nothing off. */
	asksForThinking(members: JsonObject): boolean | undefined;
	/** What requests may ask for that costs more than the list price. */
	readonly surcharges: Surcharges;
	/** How a stream of this format tells that it is complete, or failed. */
	readonly markLine: MarkLine;
	/**
	 * Whether a stream that its provider ended in order, but without the terminal event, is complete all the same.
	 * @param tail the last bytes of the stream, a few KB.
	 */
	isComplete(tail: Buffer): boolean;
	/** Whether a stream has said what it has to say, so that what it cost is told next. @param tail as above. */
	tellsUsageNext(tail: Buffer): boolean;
}

/** Follows a stream as its client gets it, to end it in order before its provider does. */
export interface CapEnding {
	push(events: EventBatch): void;
	/** What is missing of a response that reached its output cap. Undefined when nothing of the response has left yet. */
	end(usage: Usage): EventBatch | undefined;
}

/** One vendor's format, as clients may speak it too. */
export interface ClientDialect extends Dialect {
	readonly name: ClientDialectName;
	readonly readRequest: RequestReader;
	readonly writtenResponses: ResponseWriting;
	/**
	 * Checks what the gateway relies on and what no provider could take; unknown fields, roles and part types
	 * pass, for the provider's own error says more.
	 * @throws Refusal `field_missing`, `field_invalid` with the JSON path in `param`.
	 */
	validate(body: JsonObject): void;
	/** What guardrails see of requests and answers. */
	readonly textViews: TextViews;
	/** For a stream that is to end as if its output cap were reached. @param request the client's. */
	followToCap(request: JsonObject): CapEnding;
	/** Input of a request that its bytes do not tell the size of. */
	inputContent(members: JsonObject): InputContent;
	/** What other vendors may have left in a conversation. */
	readonly vendorFields: VendorFields;
	/** What the target's model is known to reject of a request. Undefined where the request stays as it is. */
	repair(members: JsonObject, target: RepairTarget): Repair | undefined;
	/** The kind of provider whose price list names the models of this dialect's vendor. */
	readonly vendorKind: ProviderKind;
	/** A field by which a request continues turns that are stored at the vendor, where nothing here can read them. */
	storedTurnsField(members: JsonObject): string | undefined;
	/** True: tool arguments stand in requests as JSON values, whose numbers lose digits unless they are read exactly. False: they are texts. */
	readonly hasArgumentValues: boolean;
	/** A whole event that ends a broken stream in a way the format's SDKs raise as an error. */
	renderErrorEvent(error: GatewayError): Buffer;
}
