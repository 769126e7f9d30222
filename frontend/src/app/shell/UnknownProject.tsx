import { Group, Stack } from '@mantine/core';
import { IconFolderQuestion } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { rememberProject, useProjects } from '@/shared/domain/project';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ButtonLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';

const OFFERED = 12;

/** The URL names a project that does not exist or is not this person's; nobody is told which. */
export function UnknownProject({ slug }: { slug: string }) {
  const { t } = useTranslation();
  const projects = useProjects().data?.results ?? [];
  const choices = (
    <Stack gap="xs" align="center">
      {projects.length > 0 ? t('shell.unknownProjectChoose') : t('shell.noProjectHint')}
      <Group gap="xs" justify="center">
        {projects.slice(0, OFFERED).map((project) => (
          <ButtonLink
            key={project.slug}
            variant="default"
            to="/"
            search={{ project: project.slug }}
            onClick={() => rememberProject(project.slug)}
          >
            {project.name || project.slug}
          </ButtonLink>
        ))}
      </Group>
    </Stack>
  );
  return (
    <Page>
      <PageHeader title={t('shell.unknownProject', { slug })} />
      <EmptyState icon={IconFolderQuestion} title={t('shell.unknownProjectHint')} action={choices} />
    </Page>
  );
}
