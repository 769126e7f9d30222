import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { PlaceTabs } from '@/shared/domain/people/PlaceTabs';
import { useCurrentProject, useMay } from '@/shared/domain/project';
import { Forbidden } from '@/shared/ui/Forbidden';
import { Page } from '@/shared/ui/Page';
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
