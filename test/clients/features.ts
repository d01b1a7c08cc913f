export const featureNames = ['text', 'stream', 'tools', 'multi-turn', 'reasoning kept', 'references rejected', 'embeddings'] as const;
export type FeatureName = (typeof featureNames)[number];

/** Reason of a failure, or null, by feature. */
export type FeatureResults = Readonly<Partial<Record<FeatureName, string | null>>>;
