/** Signs out; the app sets it, which knows all that is to be forgotten. */
export const signingOut: { run: () => Promise<void> } = { run: () => Promise.resolve() };
