import { useSearch } from '@tanstack/react-router';
import { $api } from '@/api/client';
import type { Project, Role } from '@/api/contract/accounts';
import { useMe } from './me';
import { readStored, writeStored } from './stored';

const STORED = 'atom-project';
const ROLES: Role[] = ['viewer', 'labeler', 'researcher', 'admin'];

export const rememberProject = (slug: string) => writeStored(STORED, slug);

export function useProjects() {
  return $api.useQuery('get', '/api/v1/projects/', { params: { query: { limit: 200 } } }, { staleTime: 300_000 });
}

/**
 * The project of this page: the URL's, else the last one used, else the first. Undefined while loading, with none, and
 * where the URL names one that is not the person's.
 */
export function useCurrentProject(): Project | undefined {
  const named = useSearch({ strict: false, select: (search: { project?: string }) => search.project });
  const projects = useProjects().data?.results;
  if (named !== undefined) return projects?.find(({ slug }) => slug === named);
  const last = readStored(STORED);
  return projects?.find(({ slug }) => slug === last) ?? projects?.[0];
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

/** What the person may open beside the pages of a project. The server decides; this only hides entries. */
export interface Rights {
  /** Administers some project: there is an audit log to read. */
  admin: boolean;
  /** Administers the project that is shown. */
  here: boolean;
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
    units: me?.administers_units ?? false,
    installation: me?.is_admin ?? false,
  };
}

/** Whether the person administers any project: then there is an audit log to read. */
export function useAdministersAny(): boolean {
  return useProjects().data?.results.some(({ role }) => role === 'admin') ?? false;
}
