import { Alert, List, Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleX } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/api/client';
import type { faults as words } from '@/shared/domain/faults/faults.en';
import { useRights } from '@/shared/domain/project';
import { AnchorLink } from '@/shared/ui/links';

type Says = keyof typeof words.says;

const WELL_POLL_MS = 30_000;
const ILL_POLL_MS = 5_000;

/**
 * Faults of the installation, on every page: people learn why before they try. Asked without a session, so that it is
 * told while the database is away too. The offline banner reports a web process that is away.
 */
export function FaultBanner() {
  const { t } = useTranslation();
  const { installation } = useRights();
  const { data } = $api.useQuery(
    'get',
    '/api/v1/state/',
    // The session is in the database: with it the answer would wait for the database.
    { credentials: 'omit' },
    {
      retry: false,
      refetchInterval: ({ state }) => (state.data?.faults?.length ? ILL_POLL_MS : WELL_POLL_MS),
    },
  );
  const found = data?.faults ?? [];
  if (found.length === 0) return null;
  const isProblem = data?.level === 'problem';
  const Glyph = isProblem ? IconCircleX : IconAlertTriangle;
  return (
    <Alert
      color={isProblem ? 'red' : 'orange'}
      radius={0}
      py={6}
      icon={<Glyph size={16} aria-hidden />}
      role="status"
      aria-label={t('faults.region')}
    >
      <List size="sm" listStyleType={found.length > 1 ? 'disc' : 'none'}>
        {found.map(({ code, detail }) => (
          <List.Item key={code}>{t(`faults.says.${code as Says}`, { defaultValue: detail })}</List.Item>
        ))}
      </List>
      <Text size="sm" component="div">
        {t('faults.safe')}{' '}
        {installation && (
          <AnchorLink to="/settings/health" inherit>
            {t('faults.more')}
          </AnchorLink>
        )}
      </Text>
    </Alert>
  );
}
