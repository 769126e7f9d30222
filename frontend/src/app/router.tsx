import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router';
import { s3KeysSearch, tokensSearch } from '@/features/account/search';
import { auditLogSearch, peopleSearch, unitsSearch } from '@/features/administration/search';
import { isServerPage, safeNext } from '@/features/auth/safeNext';
import { loginSearch } from '@/features/auth/search';
import {
  activitySearch,
  browseSearch,
  cleaningSearch,
  datasetsSearch,
  diffSearch,
  importSearch,
  labelsSearch,
  refsSearch,
  uploadSearch,
  versionsSearch,
  warmPlansSearch,
  warmUpSearch,
} from '@/features/datasets/search';
import {
  compareSearch,
  newRunSearch,
  predictionsSearch,
  runSearch,
  runsSearch,
  sharedRunSearch,
} from '@/features/jobs/search';
import { auditSearch, taskSearch, tasksSearch, workSearch } from '@/features/labeling/search';
import { modelSearch, modelsSearch, modelVersionSearch } from '@/features/models/search';
import { notificationsSearch } from '@/features/notifications/search';
import { secretsSearch, webhooksSearch } from '@/features/project/search';
import { NOBODY } from '@/shared/domain/me';
import { membersSearch } from '@/shared/domain/people/search';
import { projectsQuery } from '@/shared/domain/project';
import { optional, type RawSearch, text } from '@/shared/domain/search';
import { whenReachable } from '@/shared/live/connection';
import { NotFound, PageCrash, PagePending } from './fallbacks';
import { onSessionLost, queryClient } from './queryClient';
import { isOutside, LOGIN, Root, SECOND_FACTOR, SHARED_RUN } from './Root';
import { isSignedIn, lacksSecondFactor, sessionQuery } from './session';

/** Whether the session ended while the page was open: a link pressed meanwhile must not hide the reason. */
let sessionEnded = false;

/** Every page but the sign-in page needs a session; `?project=` is kept from page to page. */
const root = createRootRoute({
  component: Root,
  notFoundComponent: NotFound,
  validateSearch: (raw: RawSearch): { project?: string } => ({ project: text(raw.project) }),
  search: { middlewares: [retainSearchParams(['project'])] },
  beforeLoad: async ({ location }) => {
    if (isOutside(location.pathname)) return;
    if (!(await isSignedIn())) {
      const reason = sessionEnded ? ('expired' as const) : undefined;
      throw redirect({ to: LOGIN, search: { next: location.href, reason } });
    }
    sessionEnded = false;
    if (await lacksSecondFactor()) throw redirect({ to: SECOND_FACTOR, search: { next: location.href } });
    // Not waited for, but asked for now: the shell shows no page before it knows them.
    void queryClient.prefetchQuery(projectsQuery);
  },
});
const under = () => root;

// Apart from their routes: types of `search` are found only so.
const readLogin = optional(loginSearch);
const readNext = optional((raw: RawSearch) => ({ next: text(raw.next) }));
const auth = whenReachable(() => import('@/features/auth'));
const login = createRoute({
  getParentRoute: under,
  path: LOGIN,
  validateSearch: readLogin,
  beforeLoad: async ({ search }) => {
    // A server that does not answer is no reason to hide the form.
    if (!(await isSignedIn().catch(() => false))) return;
    const href = safeNext(search.next);
    throw redirect({ href, replace: true, reloadDocument: isServerPage(href) });
  },
  component: lazyRouteComponent(auth, 'LoginPage'),
});

/** Asked before the page, for the cookie that writing needs; whoever is signed in may open these too. */
const knowSession = async () => void (await isSignedIn().catch(() => false));
const outsideRoutes = [
  createRoute({
    getParentRoute: under,
    path: SECOND_FACTOR,
    validateSearch: readNext,
    beforeLoad: async ({ search }) => {
      if (!(await isSignedIn())) throw redirect({ href: LOGIN, replace: true });
      if (await lacksSecondFactor()) return;
      const href = safeNext(search.next);
      throw redirect({ href, replace: true, reloadDocument: isServerPage(href) });
    },
    component: lazyRouteComponent(auth, 'SecondFactorPage'),
  }),
  createRoute({ getParentRoute: under, path: '/forgotten', component: lazyRouteComponent(auth, 'ForgottenPage') }),
  createRoute({
    getParentRoute: under,
    path: '/invite/$token',
    beforeLoad: knowSession,
    component: lazyRouteComponent(auth, 'InvitePage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/reset/$token',
    beforeLoad: knowSession,
    component: lazyRouteComponent(auth, 'ResetPage'),
  }),
] as const;

const notifications = whenReachable(() => import('@/features/notifications'));
const notificationRoutes = [
  createRoute({
    getParentRoute: under,
    path: '/notifications',
    validateSearch: optional(notificationsSearch),
    component: lazyRouteComponent(notifications, 'NotificationsPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/settings/notifications',
    component: lazyRouteComponent(notifications, 'PreferencesPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/unsubscribe/$link',
    beforeLoad: knowSession,
    component: lazyRouteComponent(notifications, 'UnsubscribePage'),
  }),
] as const;

const overview = createRoute({
  getParentRoute: under,
  path: '/',
  component: lazyRouteComponent(
    whenReachable(() => import('@/features/overview')),
    'OverviewPage',
  ),
});

const datasets = whenReachable(() => import('@/features/datasets'));
const exchange = whenReachable(() => import('@/features/datasets/exchange'));
const importing = whenReachable(() => import('@/features/datasets/importing'));
const datasetRoutes = [
  createRoute({
    getParentRoute: under,
    path: '/datasets',
    validateSearch: optional(datasetsSearch),
    component: lazyRouteComponent(datasets, 'DatasetsPage'),
  }),
  createRoute({
    getParentRoute: under,
    // Not below /datasets: a dataset may have that name.
    path: '/sources',
    component: lazyRouteComponent(datasets, 'SourcesPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/uploads',
    validateSearch: optional(uploadSearch),
    component: lazyRouteComponent(datasets, 'UploadPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/datasets/$name',
    validateSearch: optional(browseSearch),
    component: lazyRouteComponent(datasets, 'BrowsePage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/datasets/$name/item',
    validateSearch: optional(browseSearch),
    component: lazyRouteComponent(datasets, 'ItemPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/datasets/$name/versions',
    validateSearch: optional(versionsSearch),
    component: lazyRouteComponent(datasets, 'VersionsPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/datasets/$name/refs',
    validateSearch: optional(refsSearch),
    component: lazyRouteComponent(datasets, 'RefsPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/deleted-datasets',
    component: lazyRouteComponent(datasets, 'DeletedPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/datasets/$name/keeping',
    component: lazyRouteComponent(datasets, 'KeepingPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/datasets/$name/activity',
    validateSearch: optional(activitySearch),
    component: lazyRouteComponent(datasets, 'ActivityPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/datasets/$name/diff',
    validateSearch: optional(diffSearch),
    component: lazyRouteComponent(datasets, 'DiffPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/warm-plans',
    validateSearch: optional(warmPlansSearch),
    component: lazyRouteComponent(datasets, 'PlansPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/datasets/$name/warm-up',
    validateSearch: optional(warmUpSearch),
    component: lazyRouteComponent(datasets, 'WarmUpPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/datasets/$name/cleaning',
    validateSearch: optional(cleaningSearch),
    component: lazyRouteComponent(datasets, 'CleaningPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/datasets/$name/labels',
    validateSearch: optional(labelsSearch),
    component: lazyRouteComponent(exchange, 'LabelsPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/datasets/$name/import',
    validateSearch: optional(importSearch),
    component: lazyRouteComponent(importing, 'ImportPage'),
  }),
] as const;

const labeling = whenReachable(() => import('@/features/labeling'));
const labelingRoutes = [
  createRoute({
    getParentRoute: under,
    path: '/labeling',
    validateSearch: optional(tasksSearch),
    component: lazyRouteComponent(labeling, 'TasksPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/labeling/$taskId',
    validateSearch: optional(taskSearch),
    component: lazyRouteComponent(labeling, 'TaskPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/labeling/$taskId/work',
    validateSearch: optional(workSearch),
    component: lazyRouteComponent(labeling, 'WorkPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/labeling/$taskId/audit',
    validateSearch: optional(auditSearch),
    component: lazyRouteComponent(labeling, 'AuditPage'),
  }),
] as const;

const jobs = whenReachable(() => import('@/features/jobs'));
// Apart from the pages of members: who was given a link needs little of them.
const sharedRun = whenReachable(() => import('@/features/jobs/sharing/SharedRunPage'));
const jobRoutes = [
  createRoute({
    getParentRoute: under,
    path: SHARED_RUN,
    validateSearch: optional(sharedRunSearch),
    component: lazyRouteComponent(sharedRun, 'SharedRunPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/runs',
    validateSearch: optional(runsSearch),
    component: lazyRouteComponent(jobs, 'RunsPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/runs/new',
    validateSearch: optional(newRunSearch),
    component: lazyRouteComponent(jobs, 'NewRunPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/runs/retention',
    component: lazyRouteComponent(jobs, 'RunRetentionPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/runs/queue',
    component: lazyRouteComponent(jobs, 'QueuePage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/runs/compare',
    validateSearch: optional(compareSearch),
    component: lazyRouteComponent(jobs, 'ComparePage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/runs/$runId/predictions',
    validateSearch: optional(predictionsSearch),
    component: lazyRouteComponent(jobs, 'PredictionsPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/runs/$runId',
    validateSearch: optional(runSearch),
    component: lazyRouteComponent(jobs, 'RunPage'),
  }),
] as const;

const models = whenReachable(() => import('@/features/models'));
const modelRoutes = [
  createRoute({
    getParentRoute: under,
    path: '/models',
    validateSearch: optional(modelsSearch),
    component: lazyRouteComponent(models, 'ModelsPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/models/$name',
    validateSearch: optional(modelSearch),
    component: lazyRouteComponent(models, 'ModelPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/models/$name/versions/$n',
    validateSearch: optional(modelVersionSearch),
    component: lazyRouteComponent(models, 'ModelVersionPage'),
  }),
] as const;

const account = whenReachable(() => import('@/features/account'));
const accountRoutes = [
  createRoute({
    getParentRoute: under,
    path: '/settings/account',
    component: lazyRouteComponent(account, 'AccountPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/settings/tokens',
    validateSearch: optional(tokensSearch),
    component: lazyRouteComponent(account, 'TokensPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/settings/s3-keys',
    validateSearch: optional(s3KeysSearch),
    component: lazyRouteComponent(account, 'S3KeysPage'),
  }),
] as const;

const project = whenReachable(() => import('@/features/project'));
const projectRoutes = [
  createRoute({
    getParentRoute: under,
    path: '/settings/members',
    validateSearch: optional(membersSearch),
    component: lazyRouteComponent(project, 'ProjectMembersPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/settings/secrets',
    validateSearch: optional(secretsSearch),
    component: lazyRouteComponent(project, 'SecretsPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/settings/webhooks',
    validateSearch: optional(webhooksSearch),
    component: lazyRouteComponent(project, 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/settings/run-shares',
    component: lazyRouteComponent(project, 'ProjectSharesPage'),
  }),
] as const;

const administration = whenReachable(() => import('@/features/administration'));
const administrationRoutes = [
  createRoute({
    getParentRoute: under,
    path: '/settings/units',
    validateSearch: optional(unitsSearch),
    component: lazyRouteComponent(administration, 'UnitsPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/settings/units/$unitId',
    validateSearch: optional(membersSearch),
    component: lazyRouteComponent(administration, 'UnitPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/settings/people',
    validateSearch: optional(peopleSearch),
    component: lazyRouteComponent(administration, 'PeoplePage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/settings/machines',
    component: lazyRouteComponent(administration, 'MachinesPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/settings/clusters',
    component: lazyRouteComponent(administration, 'ClustersPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/settings/clusters/$cluster',
    component: lazyRouteComponent(administration, 'ClusterPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/settings/garbage',
    component: lazyRouteComponent(administration, 'GarbagePage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/settings/stores',
    component: lazyRouteComponent(administration, 'StoresPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/settings/health',
    component: lazyRouteComponent(administration, 'HealthPage'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/settings/audit',
    validateSearch: optional(auditLogSearch),
    component: lazyRouteComponent(administration, 'AuditLogPage'),
  }),
] as const;

const routeTree = root.addChildren([
  login,
  ...outsideRoutes,
  overview,
  ...notificationRoutes,
  ...datasetRoutes,
  ...labelingRoutes,
  ...jobRoutes,
  ...modelRoutes,
  ...accountRoutes,
  ...projectRoutes,
  ...administrationRoutes,
]);

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultPendingComponent: PagePending,
  defaultErrorComponent: PageCrash,
  defaultNotFoundComponent: NotFound,
});

// A page's script comes while the session is asked for, not after it. Why it does not come is said when it is needed.
router.subscribe('onBeforeLoad', ({ toLocation }) => {
  const [, , route] = router.getMatchedRoutes(toLocation.pathname);
  void route?.options.component?.preload?.();
});

onSessionLost(() => {
  const { pathname, href } = router.state.location;
  if (isOutside(pathname)) return;
  sessionEnded = true;
  queryClient.setQueryData(sessionQuery.queryKey, NOBODY);
  void router.navigate({ to: LOGIN, search: { next: href, reason: 'expired' } });
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
