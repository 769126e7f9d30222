import { importing } from '../words/importing.en';

type Code = keyof typeof importing.next;

const isKnown = (code: string): code is Code => Object.hasOwn(importing.next, code);

/** The words for what to do about an importer's own code. */
export const nextStep = (code: string): `importing.next.${Code}` => `importing.next.${isKnown(code) ? code : 'other'}`;
