/** Why an image is passed on, as the server keeps it. */
export const SKIP_REASONS = ['unclear', 'bad_image', 'no_class'] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

export const isSkipReason = (reason: string): reason is SkipReason => SKIP_REASONS.some((known) => known === reason);
