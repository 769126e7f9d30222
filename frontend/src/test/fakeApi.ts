/** Stands in for the server at the HTTP boundary, in every test (see `setup.ts`). */
type Answer = unknown | ((request: Request, url: URL) => unknown);

let routes: [method: string, path: RegExp, answer: Answer][] = [];
/** The requests that were sent, in order: `POST /api/v1/…`. */
export const sent: { line: string; body: unknown }[] = [];

const SESSION = {
  authenticated: true,
  user: { id: 'u', username: 'alice', full_name: 'Alice', is_admin: false, language: 'en' },
};

export const listing = (...results: unknown[]) => ({ results, next: null });
export const problem = (status: number, code: string, title: string) =>
  new Response(JSON.stringify({ status, code, title, detail: '', action: '', request_id: 'req-1' }), {
    status,
    headers: { 'content-type': 'application/problem+json' },
  });

/** Answers requests whose path ends like `path`; later calls win. */
export function serve(method: string, path: string, answer: Answer): void {
  const pattern = path.replace(/[.?+]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+');
  routes.unshift([method, new RegExp(`^/api/v1/${pattern}$`), answer]);
}

async function respond(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const request = input instanceof Request ? input : new Request(new URL(String(input), window.location.href), init);
  const url = new URL(request.url);
  const text = request.method === 'GET' ? '' : await request.clone().text();
  sent.push({ line: `${request.method} ${url.pathname}`, body: text ? JSON.parse(text) : undefined });
  const route = routes.find(([method, path]) => method === request.method && path.test(url.pathname));
  if (!route) return problem(404, 'not_found', 'There is no such thing.');
  const answer = typeof route[2] === 'function' ? await route[2](request, url) : route[2];
  if (answer instanceof Response) return answer;
  return new Response(JSON.stringify(answer ?? {}), { headers: { 'content-type': 'application/json' } });
}

/** A socket that never opens: pages must do without. */
class NoSocket {
  readyState = 0;
  close(): void {}
  send(): void {}
}

/** Takes the place of `fetch`, which the API client takes when it is loaded. */
export function install(): void {
  globalThis.fetch = respond as typeof fetch;
  globalThis.WebSocket = NoSocket as unknown as typeof WebSocket;
}

/** Forgets what was served and sent: somebody is signed in and has one project. */
export function reset(): void {
  routes = [];
  sent.length = 0;
  serve('GET', 'auth/session/', SESSION);
  serve('GET', 'projects/', listing({ slug: 'vision', name: 'Vision', role: 'admin', unit: null }));
}
