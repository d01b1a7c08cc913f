/**
 * The vendor-neutral request between dialects. A reader of the client's dialect creates it; a writer of the provider's dialect queries it,
 * setting by setting and turn by turn. Nothing is read before it is queried. Every part carries its path in the client's request, so that a
 * writer can name the part that it cannot express.
 */
import type { JsonObject } from '../json/parse-body.ts';
import type { Place } from './json-view.ts';

/** Features that only some providers support. A reader uses them to judge settings that the provider would not apply. */
export type Capability =
	| 'audio'
	| 'candidates'
	/** Tools whose input is free text. */
	| 'customTools'
	| 'fileLinks'
	| 'frequencyPenalty'
	/** Instructions between a tool call and its result. */
	| 'instructionsAnywhere'
	/** Settings that OpenAI's formats share. */
	| 'openaiFields'
	| 'presencePenalty'
	| 'seed'
	| 'topK';

/** Each method throws `Rejection` `field_invalid` for values that the client's own dialect forbids. */
export interface Conversation {
	readonly isStreaming: boolean;
	/** Field of the turns, for warnings and rejections. */
	readonly turnsField: string;
	/** Emits each turn as soon as it is read, in the client's order. The next results turn contains the results of a turn's calls. */
	readTurns(take: (turn: Turn) => void): void;
	/** Empty without tools. */
	tools(): readonly Tool[];
	/** Tool choice of a request with tools. */
	toolChoice(): ToolChoice;
	/** The client's cap on output tokens, lowered with a warning to the model's maximum; undefined without a cap. */
	outputCap(max: number | undefined): OutputCap | undefined;
	number(name: NumberSetting): Setting<number> | undefined;
	stops(): Setting<readonly string[]>;
	/** Number of requested choices; NaN if it is not a number. */
	candidates(): Setting<number> | undefined;
	reasoning(): ReasoningSetting | undefined;
	/** Undefined for plain text. */
	outputFormat(): OutputFormat | undefined;
	/** Id of the end user. */
	userId(): string | undefined;
	serviceTier(): 'auto' | 'standard' | 'other' | undefined;
	/** Undefined unless client and provider use formats of OpenAI. */
	openai(): OpenAIFields | undefined;
}

/** Settings that only OpenAI's formats have. */
export interface OpenAIFields {
	readonly verbosity: Setting<string> | undefined;
	/** Number of alternatives per token; undefined without log probabilities. */
	readonly topLogprobs: number | undefined;
	/** Fields with equal names and values in these formats. They include the end user and the service tier. */
	readonly shared: JsonObject;
}

/** A value with the client's own name for its field, for warnings and rejections. */
export interface Setting<Value> {
	readonly field: string;
	readonly value: Value;
}

export type NumberSetting = 'temperature' | 'topP' | 'topK' | 'seed' | 'frequencyPenalty' | 'presencePenalty';

export interface OutputCap extends Setting<number> {
	/** True if the cap includes reasoning tokens; false if it covers visible output only. */
	readonly includesReasoning: boolean;
}

/** Effort levels of all vendors, ascending. */
export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof efforts)[number];

export interface ReasoningSetting {
	/** Field that requests reasoning. */
	readonly field: string;
	/** `unknown` for a level that no vendor has; undefined for the model's default. */
	readonly effort: Effort | 'unknown' | undefined;
	/** Field that sets the effort. */
	readonly effortField: string;
	/** Budget in tokens. */
	readonly budget: number | undefined;
	/** True if the client asks to see the reasoning. */
	readonly isVisible: boolean;
}

export type OutputFormat =
	| { readonly kind: 'json'; readonly field: string }
	| { readonly kind: 'schema'; readonly field: string; readonly schema: JsonObject; readonly label?: SchemaLabel };

/** Description of an output schema in OpenAI's formats. */
export interface SchemaLabel {
	readonly name: string;
	readonly description: string | undefined;
	readonly strict: boolean | undefined;
}

export type Turn = SystemTurn | UserTurn | AssistantTurn | ResultsTurn;

export interface SystemTurn {
	readonly role: 'system';
	readonly at: Place;
	readonly parts: readonly TextPart[];
	/** True if the parts form one text instead of several. */
	readonly isOneText: boolean;
}

export interface UserTurn {
	readonly role: 'user';
	readonly at: Place;
	readonly parts: readonly ContentPart[];
}

export interface AssistantTurn {
	readonly role: 'assistant';
	readonly at: Place;
	/** Empty or blank if the turn has no content. */
	readonly parts: readonly AssistantPart[];
	/** Signature of its text. */
	readonly signature: VendorSignature | undefined;
}

/** Results of all tool calls since the previous results turn. */
export interface ResultsTurn {
	readonly role: 'results';
	/** One result for each call, in the client's order. */
	readonly results: readonly ToolResult[];
	readonly calls: readonly ToolCall[];
}

export type ContentPart = TextPart | ImagePart | AudioPart | FilePart | OpaquePart;
export type AssistantPart = TextPart | ReasoningPart | ToolCall | OpaquePart;

export interface TextPart {
	readonly type: 'text';
	readonly at: Place;
	readonly text: string;
	readonly cacheMark?: CacheMark | undefined;
}

export interface ImagePart {
	readonly type: 'image';
	readonly at: Place;
	readonly source: MediaSource;
	/** Resolution at which OpenAI's models see it. */
	readonly detail?: string | undefined;
	readonly cacheMark?: CacheMark | undefined;
}

export interface AudioPart {
	readonly type: 'audio';
	readonly at: Place;
	/** Format such as `wav`; undefined if the client names none. */
	readonly format: string | undefined;
	base64(): string;
}

export interface FilePart {
	readonly type: 'file';
	readonly at: Place;
	readonly source: MediaSource;
	/** The client's own vendor does not show it to models. */
	readonly filename: string | undefined;
	/** Title that models see. */
	readonly title: string | undefined;
	readonly context: string | undefined;
	readonly cacheMark?: CacheMark | undefined;
}

/** A part that only its own vendor supports. */
export interface OpaquePart {
	readonly type: 'opaque';
	/** Path of the field with its type. */
	readonly at: Place;
	/** Its content as text, if it can be given to models of other vendors. */
	readonly text: string | undefined;
	/** Problem and remedy in terms of the client's dialect, appended to the path. */
	readonly cure: string;
}

/** Source of media. The path is that of the data's type. */
export type MediaSource =
	| { readonly kind: 'link'; readonly at: Place; readonly url: string }
	| { readonly kind: 'data'; readonly at: Place; readonly mediaType: string | undefined; base64(): string }
	/** Neither a URL nor data. */
	| { readonly kind: 'invalid'; readonly at: Place }
	/** Stored by the client's own vendor, or of an unknown kind. */
	| { readonly kind: 'foreign'; readonly at: Place; readonly cure: string };

/** End of a prompt prefix that may be cached. */
export interface CacheMark {
	readonly ttl: '5m' | '1h' | undefined;
}

/** Signature that only its vendor can verify; forwarded verbatim. */
export interface VendorSignature {
	readonly vendor: 'google';
	readonly value: string;
}

export type ReasoningPart = SignedReasoning & {
	readonly type: 'reasoning';
	readonly at: Place;
	/** Field name for warnings. */
	readonly field: string;
};

/** The block as received, if its vendor accepts it back; `open` for readable reasoning without a signature. */
export type SignedReasoning =
	| { readonly vendor: 'anthropic'; readonly signed: SignedThinking | undefined }
	| { readonly vendor: 'openai'; readonly signed: EncryptedItem | undefined }
	| { readonly vendor: 'open'; readonly text: string };

export type SignedThinking =
	| { readonly kind: 'text'; readonly text: string; readonly signature: string }
	| { readonly kind: 'encrypted'; readonly data: string };

/** A reasoning item of OpenAI's Responses API. */
export interface EncryptedItem {
	readonly kind: 'item';
	readonly id: string | undefined;
	readonly encrypted: string;
	/** Parts of its summary. */
	readonly summary: readonly unknown[];
}

export interface ToolCall {
	readonly type: 'call';
	readonly at: Place;
	readonly id: string;
	readonly name: string;
	readonly arguments: ToolArguments;
	readonly signature: VendorSignature | undefined;
	/** Free text, for a call of a custom tool. */
	readonly input?: string | undefined;
}

/** Arguments as the client sent them: its text if it sent text, its object if it sent an object. */
export interface ToolArguments {
	text(): string;
	/** @throws `Rejection` `field_invalid` for a text that is not a JSON object. */
	object(): JsonObject;
}

export interface ToolResult {
	readonly type: 'result';
	/** Path of the field that identifies the call. */
	readonly at: Place;
	readonly call: ToolCall;
	/** A string if the client sent a string. */
	readonly content: string | readonly ContentPart[];
	readonly isError: boolean;
}

export type Tool = FunctionTool | VendorTool;

export interface FunctionTool {
	readonly kind: 'function';
	readonly at: Place;
	readonly name: string;
	readonly description: string | undefined;
	/** A JSON schema; undefined for a tool without arguments. */
	readonly parameters: JsonObject | undefined;
	/** True if arguments must match the schema; undefined for the vendor's default. */
	readonly isStrict: boolean | undefined;
	readonly cacheMark?: CacheMark | undefined;
}

/** A tool that only its own vendor supports. */
export interface VendorTool {
	readonly kind: 'vendor';
	/** Path of the field with its type. */
	readonly at: Place;
	/** Problem and remedy, as in an opaque part. */
	readonly cure: string;
	readonly custom?: CustomTool;
}

/** A tool whose input is free text, for providers with the capability. */
export interface CustomTool {
	readonly name: string;
	readonly description: string | undefined;
	/** Syntax and definition of the grammar of its input. */
	readonly grammar: JsonObject | undefined;
}

export interface ToolChoice {
	/** Undefined if the client sets no mode. */
	readonly mode: 'none' | 'auto' | 'required' | undefined;
	/** The only tool that may be called; it must be called. */
	readonly named: string | undefined;
	/** Names of the tools that may be called; undefined for all. */
	readonly allowed: readonly string[] | undefined;
	/** True if at most one call is allowed. */
	readonly isSingle: boolean;
	/** Field that limits the response to one call. */
	readonly singleField: string;
}
