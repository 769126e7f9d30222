import { oneOf, type RawSearch, text } from '@/shared/domain/search';

/** Why single sign-on failed, as the server writes it into the address of the sign-in page. */
const FAILURES = [
  'sso_over',
  'sso_denied',
  'sso_provider',
  'sso_invalid',
  'sso_nobody',
  'sso_address',
  'sso_deactivated',
] as const;
export type SsoFailure = (typeof FAILURES)[number];

export const loginSearch = (raw: RawSearch) => ({
  next: text(raw.next),
  reason: oneOf('expired')(raw.reason),
  step: oneOf('code')(raw.step),
  failed: oneOf<SsoFailure>(...FAILURES)(raw.failed),
});
