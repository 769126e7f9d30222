import { Outlet, useRouterState } from '@tanstack/react-router';
import { Shell } from './shell/Shell';

export const LOGIN = '/login';

/** The shell around every page but the one to sign in. */
export function Root() {
  // The page that is shown, not the one on its way: the shell must not ask for data before the session is known.
  const isLogin = useRouterState({ select: ({ matches }) => matches.at(-1)?.fullPath === LOGIN });
  return isLogin ? <Outlet /> : <Shell />;
}
