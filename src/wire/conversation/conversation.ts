/**
 * The typed middle between dialects: what a request says, in no vendor's format. A reader of the client's dialect makes it and a
 * writer of the provider's dialect asks it, setting by setting and turn by turn; nothing is read before it is asked for.
 * Every part knows its place in the client's request, so that a writer that cannot say it can name it.
 */
import type { JsonObject } from '../json/parse-body.ts';
import type { Place } from './json-view.ts';

/** What only some providers take. A reader judges by it what the client asked for in vain. */
export type Capability =
	| 'audio'
	| 'candidates'
	| 'fileLinks'
	| 'frequencyPenalty'
	/** Instructions between a call and its result. */
	| 'instructionsAnywhere'
	| 'presencePenalty'
	| 'seed'
	| 'topK';

/** Each method throws Refusal `field_invalid` for what the client's own dialect does not allow. */
export interface Conversation {
	readonly isStreamed: boolean;
	/** Gives each turn as soon as it is read, in the client's order. The calls that a turn makes are answered by the results turn that follows. */
	readTurns(take: (turn: Turn) => void): void;
	/** Empty where there are none. */
	tools(): readonly Tool[];
	/** Of a request with tools. */
	toolChoice(): ToolChoice;
	/** The client's cap on the output, lowered with a warning to the most that the model can write; undefined where it gave none. */
	outputCap(most: number | undefined): OutputCap | undefined;
	number(name: NumberSetting): Setting<number> | undefined;
	/** Sequences to stop at. */
	stops(): Setting<readonly string[]>;
	/** The number of answers; NaN for what is no number. */
	candidates(): Setting<number> | undefined;
	reasoning(): ReasoningSetting | undefined;
	/** Undefined for plain text. */
	outputFormat(): OutputFormat | undefined;
	/** Of whoever uses the client's program. */
	userId(): string | undefined;
	serviceTier(): 'auto' | 'standard' | 'other' | undefined;
}

/** A value under the client's own name for it, as warnings and rejections name it. */
export interface Setting<Value> {
	readonly field: string;
	readonly value: Value;
}

export type NumberSetting = 'temperature' | 'topP' | 'topK' | 'seed' | 'frequencyPenalty' | 'presencePenalty';

export interface OutputCap extends Setting<number> {
	/** It covers reasoning too, not visible output alone. */
	readonly includesReasoning: boolean;
}

/** From the least to the greatest, of all vendors. */
export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof efforts)[number];

export interface ReasoningSetting {
	/** What asks for it. */
	readonly field: string;
	/** `unknown` for a word that no vendor has. Undefined: as the model does by itself. */
	readonly effort: Effort | 'unknown' | undefined;
	/** What says the effort. */
	readonly effortField: string;
	/** In tokens. */
	readonly budget: number | undefined;
	/** Whether the client wants to read what was thought. */
	readonly isShown: boolean;
}

export type OutputFormat =
	| { readonly kind: 'json'; readonly field: string }
	| { readonly kind: 'schema'; readonly field: string; readonly schema: JsonObject };

export type Turn = SystemTurn | UserTurn | AssistantTurn | ResultsTurn;

export interface SystemTurn {
	readonly role: 'system';
	readonly at: Place;
	readonly parts: readonly TextPart[];
	/** The parts are one text, not several. */
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
	/** Empty or blank where the turn says nothing. */
	readonly parts: readonly AssistantPart[];
	/** Of its text. */
	readonly signature: VendorSignature | undefined;
}

/** What answers all calls that the assistant made since the last one. */
export interface ResultsTurn {
	readonly role: 'results';
	/** In the client's order: one for each call. */
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
	readonly cacheMark?: CacheMark | undefined;
}

export interface AudioPart {
	readonly type: 'audio';
	readonly at: Place;
	/** Such as `wav`; undefined where the client says none. */
	readonly format: string | undefined;
	base64(): string;
}

export interface FilePart {
	readonly type: 'file';
	readonly at: Place;
	readonly source: MediaSource;
	/** Not shown to models by the client's own vendor. */
	readonly filename: string | undefined;
	/** What models are shown with it. */
	readonly title: string | undefined;
	readonly context: string | undefined;
	readonly cacheMark?: CacheMark | undefined;
}

/** A part that only its own vendor knows. */
export interface OpaquePart {
	readonly type: 'opaque';
	/** Of what says its kind. */
	readonly at: Place;
	/** What it says in words, where models of others can be told. */
	readonly text: string | undefined;
	/** What is wrong with it and what to send instead, in the client's dialect, to follow its path. */
	readonly cure: string;
}

/** The place is that of what says the kind of data. */
export type MediaSource =
	| { readonly kind: 'link'; readonly at: Place; readonly url: string }
	| { readonly kind: 'data'; readonly at: Place; readonly mediaType: string | undefined; base64(): string }
	/** Neither an address nor data. */
	| { readonly kind: 'invalid'; readonly at: Place }
	/** Kept by the client's own vendor, or of a kind that nobody knows. */
	| { readonly kind: 'foreign'; readonly at: Place; readonly cure: string };

/** Where a prompt's beginning may be cached. */
export interface CacheMark {
	readonly ttl: '5m' | '1h' | undefined;
}

/** Verbatim, and of use to its vendor alone. */
export interface VendorSignature {
	readonly vendor: 'google';
	readonly value: string;
}

export interface ReasoningPart {
	readonly type: 'reasoning';
	readonly at: Place;
	/** As warnings name it. */
	readonly field: string;
	readonly vendor: 'anthropic';
	/** As it came, where its vendor would take it back; undefined for what is not signed. */
	readonly signed:
		| { readonly kind: 'text'; readonly text: string; readonly signature: string }
		| { readonly kind: 'encrypted'; readonly data: string }
		| undefined;
}

export interface ToolCall {
	readonly type: 'call';
	readonly at: Place;
	readonly id: string;
	readonly name: string;
	readonly arguments: ToolArguments;
	readonly signature: VendorSignature | undefined;
}

/** The client's own text of the arguments where it sent text, its own object where it sent an object. */
export interface ToolArguments {
	text(): string;
	/** @throws Refusal `field_invalid` for a text that is no JSON object. */
	object(): JsonObject;
}

export interface ToolResult {
	readonly type: 'result';
	/** Of what names the call. */
	readonly at: Place;
	readonly call: ToolCall;
	/** A string where the client wrote one. */
	readonly content: string | readonly ContentPart[];
	readonly isError: boolean;
}

export type Tool = FunctionTool | VendorTool;

export interface FunctionTool {
	readonly kind: 'function';
	readonly at: Place;
	readonly name: string;
	readonly description: string | undefined;
	/** A JSON schema; undefined: it takes no arguments. */
	readonly parameters: JsonObject | undefined;
	/** Whether arguments are held to the schema; undefined: as the vendor does by itself. */
	readonly isStrict: boolean | undefined;
	readonly cacheMark?: CacheMark | undefined;
}

/** A tool that only its own vendor knows. */
export interface VendorTool {
	readonly kind: 'vendor';
	/** Of what says its kind. */
	readonly at: Place;
	/** As of an opaque part. */
	readonly cure: string;
}

export interface ToolChoice {
	/** Undefined: the client says nothing of it. */
	readonly mode: 'none' | 'auto' | 'required' | undefined;
	/** The only tool that may be called, and must be. */
	readonly named: string | undefined;
	/** Names of those that may be called; undefined: all. */
	readonly allowed: readonly string[] | undefined;
	/** One call at most. */
	readonly isSingle: boolean;
	/** What says that one call at most may be made. */
	readonly singleField: string;
}
