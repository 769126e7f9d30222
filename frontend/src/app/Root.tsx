import { Outlet, useRouterState } from '@tanstack/react-router';
import { Shell } from './shell/Shell';

export const LOGIN = '/login';
/** Where a second factor is set up before anything else is allowed. */
export const SECOND_FACTOR = '/second-factor';
/** A run as who was given a link to it sees it. */
export const SHARED_RUN = '/shared-run';
/** Pages of people who are not signed in, or not yet. */
const OUTSIDE: readonly string[] = [
  LOGIN,
  SECOND_FACTOR,
  SHARED_RUN,
  '/forgotten',
  '/invite/$token',
  '/reset/$token',
  '/unsubscribe/$link',
];
/** Whether an address is that of a page outside. */
export const isOutside = (path: string) =>
  path === LOGIN ||
  path === SECOND_FACTOR ||
  path === SHARED_RUN ||
  path === '/forgotten' ||
  path.startsWith('/invite/') ||
  path.startsWith('/unsubscribe/') ||
  path.startsWith('/reset/');

/** The shell around every page but those outside. */
export function Root() {
  // The page that is shown, not the one on its way: the shell must not ask for data before the session is known.
  const outside = useRouterState({ select: ({ matches }) => OUTSIDE.includes(matches.at(-1)?.fullPath ?? '') });
  return outside ? <Outlet /> : <Shell />;
}
