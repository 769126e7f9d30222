import { ActionIcon, Group, Tooltip } from '@mantine/core';
import { IconArrowsExchange, IconGitCompare } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/shared/ui/EmptyState';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { VersionPicker } from '../browse/VersionPicker';
import { DatasetPartHeader } from '../DatasetPartHeader';
import { useVersions } from '../queries';
import { DiffGallery, type DiffPlace } from './DiffGallery';

const route = getRouteApi('/datasets/$name/diff');

/** The pair in the URL; without one, the last two versions. */
function usePair(name: string) {
  const { from, to } = route.useSearch();
  const versions = useVersions(name, 'main').rows;
  return {
    from: from ?? versions?.[1]?.ref,
    to: to ?? versions?.[0]?.ref,
    onlyOne: versions !== undefined && versions.length < 2 && !(from && to),
  };
}

export function DiffPage() {
  const { t } = useTranslation();
  const { name } = route.useParams();
  const { from, to, onlyOne } = usePair(name);
  const navigate = route.useNavigate();
  const { from: _from, to: _to, ...place } = route.useSearch();
  // Another pair has other changes: what was looked at is none of them.
  const set = (patch: { from?: string; to?: string }) =>
    void navigate({ search: (old) => ({ ...old, from, to, ...patch, page: undefined, item: undefined }) });
  const change = (patch: DiffPlace) => void navigate({ search: (old) => ({ ...old, ...patch }) });
  return (
    <Page>
      <DatasetPartHeader
        name={name}
        tab="versions"
        title={t('datasets.diffTitle')}
        documentTitle={t('datasets.diffOf', { name, from: from ?? '', to: to ?? '' })}
        above={
          <AnchorLink to="/datasets/$name" params={{ name }} size="sm">
            {name}
          </AnchorLink>
        }
      >
        <Group gap="xs" align="flex-end">
          <VersionPicker name={name} value={from} label={t('datasets.from')} onChange={(ref) => set({ from: ref })} />
          <Tooltip label={t('datasets.swap')}>
            <ActionIcon
              size={30}
              variant="default"
              aria-label={t('datasets.swap')}
              onClick={() => from && to && set({ from: to, to: from })}
            >
              <IconArrowsExchange size={16} />
            </ActionIcon>
          </Tooltip>
          <VersionPicker name={name} value={to} label={t('datasets.to')} onChange={(ref) => set({ to: ref })} />
        </Group>
      </DatasetPartHeader>
      {onlyOne ? (
        <EmptyState icon={IconGitCompare} title={t('datasets.oneVersion')} />
      ) : (
        <DiffGallery name={name} from={from} to={to} place={place} change={change} />
      )}
    </Page>
  );
}
