import type { EngineFinding, EngineUsage } from '../../../wire/guardrail-engines/engine.ts';

export type EngineJudgement = EngineVerdict | EngineFailed;

interface EngineReport {
	/** One for each category, its highest score; only those that are to be noted. Of a failure, what was found in spite of it. */
	readonly findings: readonly JudgedFinding[];
	readonly usage: EngineUsage;
	/** Undefined where the engine's price is not known. */
	readonly costNanoUsd: bigint | undefined;
}

export interface JudgedFinding extends EngineFinding {
	/** Whether it is sure enough to block; else it is only noted. */
	readonly isSure: boolean;
}

export interface EngineVerdict extends EngineReport {
	readonly outcome: 'judged';
}

export interface EngineFailed extends EngineReport {
	readonly outcome: 'failed';
	readonly failure: EngineFailure;
	/** The engine is to fail closed: under enforcement the call is blocked. */
	readonly isBlocking: boolean;
}

/** `abandoned`: nobody waited any more. `busy`: no place came free in time. `too_large`: it would take too many requests. */
export type EngineFailure = 'timeout' | 'unreachable' | 'status' | 'malformed' | 'busy' | 'too_large' | 'abandoned';
