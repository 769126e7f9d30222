import createClient, { type Middleware } from 'openapi-fetch';
import createQueryHooks from 'openapi-react-query';
import { connection, isOwnAnswer } from '@/shared/live/connection';
import { readApiError } from './errors';
import { PageRequest } from './leaving';
import type { paths } from './schema';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

export function csrfToken(): string {
  const entry = document.cookie.split('; ').find((cookie) => cookie.startsWith('csrftoken='));
  return entry?.slice('csrftoken='.length) ?? '';
}

const csrf: Middleware = {
  async onRequest({ request }) {
    if (READS.has(request.method)) return request;
    // Somebody may sign in faster than the first question about the session is answered.
    if (csrfToken() === '') await fetch('/api/v1/auth/session/', { credentials: 'same-origin' });
    request.headers.set('X-CSRFToken', csrfToken());
    return request;
  },
};

/** Every failed answer is thrown as an ApiError, so callers handle one kind of failure. */
const problems: Middleware = {
  async onResponse({ response }) {
    if (!response.ok) throw await readApiError(response);
  },
};

/** Tells whether the server answered; leaving a page ends requests too, which says nothing. */
const heard: Middleware = {
  onResponse({ response }) {
    if (isOwnAnswer(response)) connection.heard();
    else connection.missed();
  },
  onError({ error }) {
    if (error instanceof TypeError) connection.missed();
  },
};

export const api = createClient<paths>({ baseUrl: '', credentials: 'same-origin', Request: PageRequest });
// The last one sees an answer first.
api.use(csrf, problems, heard);

/** For what anybody may ask: nothing of who is signed in here is sent along. */
export const anonymous = createClient<paths>({ baseUrl: '', credentials: 'omit', Request: PageRequest });
anonymous.use(problems, heard);

/** Typed TanStack Query hooks: `$api.useQuery('get', '/api/v1/projects/', { … })`. */
export const $api = createQueryHooks(api);

/** The key prefix that `$api` caches a path's answers under, for `invalidateQueries({ queryKey: keyOf(…) })`. */
export const keyOf = <Path extends keyof paths>(path: Path) => ['get', path] as const;
