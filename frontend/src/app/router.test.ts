import { afterEach, expect, test } from 'vitest';
import { eventually } from '@/test/eventually';
import { sent, serve } from '@/test/fakeApi';
import { queryClient } from './queryClient';
import { router } from './router';

afterEach(() => queryClient.clear());

const asked = (path: string) => sent.some(({ line }) => line === `GET /api/v1/${path}`);

test('a page’s script comes while the session is asked for, and the projects as soon as it is known', async () => {
  queryClient.clear();
  let answer = (_: unknown) => {};
  serve('GET', 'auth/session/', () => new Promise((resolve) => (answer = resolve)));
  const page = router.routesByPath['/'].options.component;
  const loaded = router.load();
  await eventually(() => expect(asked('auth/session/')).toBe(true));
  // The router forgets how to load what it has.
  await eventually(() => expect(page?.preload).toBeUndefined());
  // Whoever is not signed in has none.
  expect(asked('projects/')).toBe(false);
  answer({ authenticated: true, user: null, lacks_second_factor: false });
  await loaded;
  await eventually(() => expect(asked('projects/')).toBe(true));
});
