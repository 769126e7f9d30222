import { List, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { NodeAgent } from '@/api/schema';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { xidMeaning } from './xid';

const SHOWN = 5;

interface XidEventsProps {
  node: string;
  events: NodeAgent['xid_events'];
  cards: NodeAgent['gpus'];
}

/** The last errors that the driver told of a node's cards, newest first, with their meaning; mostly nothing. */
export function XidEvents({ node, events, cards }: XidEventsProps) {
  const { t } = useTranslation();
  if (events.length === 0) return null;
  const indexOf = new Map(cards.map(({ uuid, index }) => [uuid, index]));
  return (
    <section aria-label={t('agents.xidsOf', { node })}>
      <Title order={4} fz="sm" mb={4}>
        {t('agents.xids')}
      </Title>
      <List size="sm" spacing={4} withPadding>
        {events.slice(0, SHOWN).map(({ gpu, xid, at }) => {
          const { meaning, todo } = xidMeaning(xid);
          return (
            <List.Item key={`${gpu} ${xid} ${at}`}>
              <b>{t('agents.xid', { code: xid })}</b>, {t('agents.onCard', { index: indexOf.get(gpu) ?? gpu })},{' '}
              <RelativeTime at={at} />
              <br />
              {[t(`agents.meaning.${meaning}`), todo && t(`agents.todo.${todo}`)].filter(Boolean).join(' ')}
            </List.Item>
          );
        })}
      </List>
      {events.length > SHOWN && (
        <Text size="xs" c="dimmed">
          {t('agents.moreXids', { count: events.length - SHOWN })}
        </Text>
      )}
    </section>
  );
}
