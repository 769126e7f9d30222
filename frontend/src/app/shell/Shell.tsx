import { AppShell } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { lazy, memo, Suspense, useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { FaultBanner } from '@/shared/domain/faults/FaultBanner';
import { useCurrentProject, useProjectInUrl, useProjects, useRights, useUnknownProject } from '@/shared/domain/project';
import { useDensityOfPage } from '@/shared/grid/density';
import { useIsOnline, whenReachable } from '@/shared/live/connection';
import { useProjectLive } from '@/shared/live/projectLive';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { keepFocus } from '@/shared/ui/focusBack';
import { ButtonLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { listenForShortcuts, useShortcuts } from '@/shared/ui/shortcuts';
import { PagePending, PageWaits } from '../fallbacks';
import { ConnectionBar } from './ConnectionBar';
import { Header } from './Header';
import { namedPagesFor } from './navigation';
import { useRememberPages } from './recent';
import { Sidebar } from './Sidebar';
import { UnknownProject } from './UnknownProject';
import { useSchemeToggle } from './useSchemeToggle';

// These are not needed before the first key press.
const Palette = lazy(whenReachable(() => import('./Palette')));
const ShortcutSheet = lazy(whenReachable(() => import('./ShortcutSheet')));

export const HEADER_PX = 52;
const FREE = [
  '/settings/health',
  '/settings/stores',
  '/settings/machines',
  '/settings/clusters',
  '/settings/units',
  '/settings/people',
  '/settings/account',
  '/settings/notifications',
  '/notifications',
];

export function Shell() {
  const { t } = useTranslation();
  const [menu, { toggle: toggleMenu, close: closeMenu }] = useDisclosure();
  const [overlay, setOverlay] = useState<'palette' | 'shortcuts' | null>(null);
  const navigate = useNavigate();
  const toggleScheme = useSchemeToggle();
  const rights = useRights();
  const pages = namedPagesFor(rights);
  useRememberPages();
  useDensityOfPage();
  useEffect(() => listenForShortcuts(), []);
  useShortcuts([
    {
      keys: 'mod+K',
      label: t('shell.openPalette'),
      run: () => setOverlay('palette'),
      inFields: true,
      scope: 'everywhere',
    },
    { keys: '?', label: t('shell.shortcuts'), run: () => setOverlay('shortcuts'), scope: 'everywhere' },
    { keys: 'mod+J', label: t('shell.toggleTheme'), run: toggleScheme, inFields: true, scope: 'everywhere' },
    ...pages
      .filter((page) => page.keys)
      .map((page) => ({
        keys: page.keys as string,
        label: t(`nav.${page.key}`),
        run: () => void navigate({ to: page.to }),
        scope: 'everywhere' as const,
      })),
  ]);
  const close = () => setOverlay(null);
  const openPalette = useCallback(() => setOverlay('palette'), []);
  const openShortcuts = useCallback(() => setOverlay('shortcuts'), []);
  return (
    <AppShell
      header={{ height: HEADER_PX }}
      navbar={{ width: 216, breakpoint: 'sm', collapsed: { mobile: !menu } }}
      padding={0}
    >
      <a href="#main" className="skip-link">
        {t('nav.skip')}
      </a>
      <AppShell.Header>
        <Header menuOpen={menu} onMenu={toggleMenu} onPalette={openPalette} onShortcuts={openShortcuts} />
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={t('nav.main')}>
        <Sidebar onNavigate={closeMenu} />
      </AppShell.Navbar>
      <Content />
      <Live />
      <ConnectionBar />
      <Suspense fallback={null}>
        {overlay === 'palette' && <Palette onClose={close} onShortcuts={openShortcuts} />}
        {overlay === 'shortcuts' && <ShortcutSheet onClose={close} />}
      </Suspense>
    </AppShell>
  );
}

/** Apart, so that a socket which opens or closes draws nothing again. */
function Live() {
  const slug = useCurrentProject()?.slug;
  useProjectLive(slug);
  useProjectInUrl(slug);
  return null;
}

/** The page, once the project is known; moving to another page moves the focus into it. */
const Content = memo(() => {
  const projects = useProjects();
  const project = useCurrentProject();
  const isOnline = useIsOnline();
  const main = useRef<HTMLElement>(null);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const firstPath = useRef(path);
  useEffect(() => {
    if (path === firstPath.current) return;
    firstPath.current = path;
    main.current?.focus({ preventScroll: true });
  }, [path]);
  useEffect(() => (main.current ? keepFocus(main.current) : undefined), []);
  const unknown = useUnknownProject();
  // Pages of the person and of the tree of units need no project: it is there that one is made.
  const isFree = useRouterState({
    select: ({ matches }) => FREE.some((at) => matches.at(-1)?.fullPath.startsWith(at)),
  });
  const none = projects.data?.results.length === 0 && unknown === undefined;
  return (
    <AppShell.Main id="main" ref={main} tabIndex={-1} data-stale={isOnline ? undefined : true}>
      <FaultBanner />
      <DataWaits />
      {projects.isPending && <PagePending />}
      {projects.error && !projects.data && (
        <Page>
          <ErrorState error={projects.error} onRetry={() => void projects.refetch()} />
        </Page>
      )}
      {unknown !== undefined && <UnknownProject slug={unknown} />}
      {none && !isFree && <NoProject />}
      {(project || (none && isFree)) && (
        // Another project is another page: nothing of the old one may stay on the screen.
        <Suspense key={project?.slug} fallback={<PagePending />}>
          <Outlet />
        </Suspense>
      )}
    </AppShell.Main>
  );
});

/** Says at the top of a page that its data cannot come while the server is away. */
function DataWaits() {
  const cache = useQueryClient().getQueryCache();
  const waits = useSyncExternalStore(
    (listener) => cache.subscribe(listener),
    () => cache.getAll().some((query) => query.isActive() && query.state.fetchStatus === 'paused' && !query.state.data),
  );
  return waits ? <PageWaits /> : null;
}

function NoProject() {
  const { t } = useTranslation();
  const { units } = useRights();
  const action = units && <ButtonLink to="/settings/units">{t('nav.units')}</ButtonLink>;
  return <EmptyState title={t(units ? 'shell.noProjectMake' : 'shell.noProjectHint')} action={action} />;
}
