import { queryOptions, useQuery } from '@tanstack/react-query';
import { useNavigate, useRouterState, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { api, keyOf } from '@/api/client';
import type { Project, Role } from '@/api/contract/accounts';
import { readOfTab, readStored, writeOfTab, writeStored } from '../ui/stored';
import { useMe } from './me';

const PROJECTS = '/api/v1/projects/';
/** The most that the server gives at once. */
const PAGE = 200;
const STORED = 'atom-project';
const ROLES: Role[] = ['viewer', 'labeler', 'researcher', 'admin'];

/** Moves this tab to a project; one that is opened later begins there too. */
export function rememberProject(slug: string): void {
  writeOfTab(STORED, slug);
  writeStored(STORED, slug);
}

/**
 * Where a page goes whose URL names no project. Kept from the first time it is asked: what is chosen in another tab must
 * not move what is written in this one to another project.
 */
function ofThisTab(projects: Project[]): Project | undefined {
  const kept = readOfTab(STORED);
  const wanted = kept ?? readStored(STORED);
  const found = projects.find(({ slug }) => slug === wanted) ?? projects[0];
  if (found && kept === null) writeOfTab(STORED, found.slug);
  return found;
}

/** Every project of the person, page after page: the one that the URL names may be on the last. */
async function allProjects(signal: AbortSignal): Promise<{ results: Project[] }> {
  const results: Project[] = [];
  let cursor: string | null | undefined;
  do {
    const query = { limit: PAGE, cursor: cursor ?? undefined };
    const { data } = await api.GET(PROJECTS, { params: { query }, signal });
    results.push(...(data?.results ?? []));
    cursor = data?.next;
  } while (cursor);
  return { results };
}

export const projectsQuery = queryOptions({
  queryKey: [...keyOf(PROJECTS), 'all'],
  queryFn: ({ signal }) => allProjects(signal),
  staleTime: 300_000,
});

export const useProjects = () => useQuery(projectsQuery);

/**
 * The project of this page: the URL's, else the tab's, else the last one used, else the first. Undefined while loading, with none, and
 * where the URL names one that is not the person's.
 */
export function useCurrentProject(): Project | undefined {
  const named = useSearch({ strict: false, select: (search: { project?: string }) => search.project });
  const projects = useProjects().data?.results;
  if (named !== undefined) return projects?.find(({ slug }) => slug === named);
  return projects && ofThisTab(projects);
}

/** Writes the project into the URL of this page: whoever opens a copy of it may have used another one last. */
export function useProjectInUrl(slug: string | undefined): void {
  const named = useSearch({ strict: false, select: (search: { project?: string }) => search.project });
  const navigate = useNavigate();
  // An address that is no page stays as it is: from there, `.` would be the overview.
  const isPage = useRouterState({ select: ({ matches }) => matches.length > 1 });
  useEffect(() => {
    if (slug === undefined || slug === named || !isPage) return;
    void navigate({
      to: '.',
      search: (old) => ({ ...old, project: slug }),
      hash: true,
      replace: true,
      resetScroll: false,
    });
  }, [slug, named, isPage, navigate]);
}

/** Moves the page to the project of what it shows: what has an id is found whichever project the URL names. */
export function useProjectOf(shown: { project: string } | undefined): void {
  const mine = useProjects().data?.results.some(({ slug }) => slug === shown?.project);
  useProjectInUrl(mine ? shown?.project : undefined);
}

/** The project that the URL names although the person has none of that name. */
export function useUnknownProject(): string | undefined {
  const named = useSearch({ strict: false, select: (search: { project?: string }) => search.project });
  const projects = useProjects().data?.results;
  return projects && named !== undefined && projects.every(({ slug }) => slug !== named) ? named : undefined;
}

/** The slug of the current project. The shell shows no page before there is one. */
export function useProject(): string {
  return useCurrentProject()?.slug ?? '';
}

/** Whether the person's role in the current project is at least `role`. The server decides; this only hides buttons. */
export function useMay(role: Role): boolean {
  const mine = useCurrentProject()?.role;
  return mine !== undefined && ROLES.indexOf(mine) >= ROLES.indexOf(role);
}

/** Pages that the person may open beside those of a project. The server decides; this only hides entries. */
export interface Rights {
  /** Administers some project: there is an audit log to read. */
  admin: boolean;
  /** Administers the project that is shown. */
  here: boolean;
  /** Starts runs in the project that is shown. */
  runs: boolean;
  /** Administers a unit. */
  units: boolean;
  /** Administers the installation. */
  installation: boolean;
}

export function useRights(): Rights {
  const me = useMe();
  return {
    admin: useAdministersAny(),
    here: useMay('admin'),
    runs: useMay('researcher'),
    units: me?.administers_units ?? false,
    installation: me?.is_admin ?? false,
  };
}

/** Whether the person administers any project: then there is an audit log to read. */
export function useAdministersAny(): boolean {
  return useProjects().data?.results.some(({ role }) => role === 'admin') ?? false;
}
