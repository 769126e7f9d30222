import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Forbidden } from '@/shared/Forbidden';
import { Page } from '@/shared/Page';
import { PlaceTabs } from '@/shared/people/PlaceTabs';
import { useCurrentProject, useMay } from '@/shared/project';
import { ProjectHeader } from '../ProjectHeader';

const route = getRouteApi('/settings/members');

export function ProjectMembersPage() {
  const { t } = useTranslation();
  const project = useCurrentProject();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay('admin');
  if (!project) return null;
  return (
    <Page>
      <ProjectHeader tab="members" subtitle={t('people.membersOf', { name: project.name })} />
      {may ? (
        <PlaceTabs
          place={{ kind: 'project', project: project.slug }}
          search={search}
          onSearch={(patch) => void navigate({ search: (old) => ({ ...old, ...patch }), replace: true })}
        />
      ) : (
        <Forbidden hint={t('people.membersForbidden')} />
      )}
    </Page>
  );
}
