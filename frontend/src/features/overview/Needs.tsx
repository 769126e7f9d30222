import { Badge, Button, Card, Group, Text, Title } from '@mantine/core';
import { Link, type LinkProps } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Need } from '@/api/contract/notifications';
import { useWords } from '@/shared/domain/runWords';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import classes from './overview.module.css';

const COLORS = { problem: 'red', warning: 'yellow', todo: 'gray' } as const;

/** Where the one next step of a need is. A code that this portal does not know has none. */
const PLACES: Readonly<Record<string, (need: Need) => LinkProps>> = {
  finding: () => ({ to: '/settings/health' }),
  run_failed: ({ id }) => ({ to: '/runs/$runId', params: { runId: id } }),
  conflict: ({ name }) => ({ to: '/datasets/$name/versions', params: { name } }),
  operation_failed: ({ name }) => ({ to: '/datasets/$name/versions', params: { name } }),
  source_drifted: () => ({ to: '/sources' }),
  scan_failed: () => ({ to: '/sources' }),
  staging: ({ name }) => ({ to: '/datasets/$name/versions', params: { name } }),
  label_returned: ({ id }) => ({ to: '/labeling/$taskId/work', params: { taskId: id } }),
  label: ({ id }) => ({ to: '/labeling/$taskId/work', params: { taskId: id } }),
  audit: ({ id }) => ({ to: '/labeling/$taskId/audit', params: { taskId: id } }),
  invitations_open: () => ({ to: '/settings/members' }),
  invitations_over: () => ({ to: '/settings/members' }),
  token_expires: () => ({ to: '/settings/tokens' }),
  s3_key_expires: () => ({ to: '/settings/s3-keys' }),
};
type Code = 'run_failed';

/** Action items of the reader, worst first, each with its one next step. */
export function Needs({ needs }: { needs: Need[] }) {
  const { t } = useTranslation();
  if (needs.length === 0) return null;
  return (
    <Card component="section" aria-label={t('overview.needs')} mb="md">
      <Title order={2} fz="md" mb="xs">
        {t('overview.needs')}
      </Title>
      <ul className={classes.needs}>
        {needs.map((need) => (
          <li key={`${need.code} ${need.id}`}>
            <NeedLine need={need} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function NeedLine({ need }: { need: Need }) {
  const { t } = useTranslation();
  const said = useSaid()(need);
  const place = PLACES[need.code];
  const action = t(`overview.act.${need.code as Code}`, { defaultValue: '' });
  return (
    <Group justify="space-between" wrap="nowrap" gap="sm" py={6}>
      <Group gap="xs" wrap="nowrap" miw={0} align="baseline">
        <Badge color={COLORS[need.level]} size="sm" flex="none">
          {t(`overview.levels.${need.level}`)}
        </Badge>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {said}
          {need.at && (
            <Text span size="xs" c="dimmed">
              {' · '}
              <RelativeTime at={need.at} />
            </Text>
          )}
        </Text>
      </Group>
      {place && (
        <Button
          component={Link}
          {...(place(need) as object)}
          variant="light"
          size="compact-sm"
          flex="none"
          aria-label={[action, need.name].join(': ')}
        >
          {action}
        </Button>
      )}
    </Group>
  );
}

function useSaid(): (need: Need) => string {
  const { t } = useTranslation();
  const words = useWords();
  return ({ code, name, count, data }) => {
    const failure = typeof data.failure_class === 'string' ? words.failureClass(data.failure_class) : '';
    const params = { ...data, name, count, failure, defaultValue: name };
    return String(t(`overview.need.${code as Code}`, params));
  };
}
