import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { serve } from '@/test/fakeApi';

/** The requests of this environment forget whether they were to outlive the page. */
class BrowserRequest extends Request {
  override readonly keepalive: boolean;
  constructor(input: RequestInfo | URL, init: RequestInit = {}) {
    super(input, init);
    this.keepalive = init.keepalive ?? false;
  }
}

let api: typeof import('./client').api;
let kept: boolean[] = [];

beforeAll(async () => {
  vi.stubGlobal('Request', BrowserRequest);
  vi.resetModules();
  ({ api } = await import('./client'));
});
afterAll(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

const write = async (words: string) => {
  serve('PUT', 'labelx/slots/{slot}/draft/', (request: Request) => {
    kept.push(request.keepalive);
    return {};
  });
  const params = { path: { slot_id: 's' } };
  await api.PUT('/api/v1/labelx/slots/{slot_id}/draft/', { params, body: { seq: 1, document: { words } } });
};

afterEach(() => {
  kept = [];
  window.dispatchEvent(new Event('pageshow'));
});

test('a write with a body outlives a page that is being left, and no other', async () => {
  await write('vision');
  window.dispatchEvent(new Event('pagehide'));
  await write('vision');
  window.dispatchEvent(new Event('pageshow'));
  await write('vision');
  expect(kept).toEqual([false, true, false]);
});

test('what no browser would send after its page is sent as ever', async () => {
  window.dispatchEvent(new Event('pagehide'));
  await write('字'.repeat(21_000));
  await write('a'.repeat(40_000));
  // Together they would be too large.
  await write('a'.repeat(40_000));
  expect(kept).toEqual([false, true, false]);
});

test('a write without a body always does, a read never', async () => {
  serve('POST', 'labelx/tasks/{task}/start/', (request: Request) => {
    kept.push(request.keepalive);
    return {};
  });
  serve('GET', 'projects/', (request: Request) => {
    kept.push(request.keepalive);
    return { results: [], next: null };
  });
  await api.POST('/api/v1/labelx/tasks/{task_id}/start/', { params: { path: { task_id: 't' } } });
  await api.GET('/api/v1/projects/', {});
  expect(kept).toEqual([true, false]);
});
