import type { LinkProps } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Notification } from '@/api/contract/notifications';
import { addWords } from '@/i18n';
import '@/shared/domain/people/words';
import { useWords } from '@/shared/domain/runWords';
import { type Line, subjectsOf } from '../groups';
import { notifications } from './notifications.en';

addWords({ notifications });

export type Told = Pick<Notification, 'kind' | 'data' | 'count'>;

/** The title of a notification, in the reader's language: by its kind and the fields of its event. */
export function useTitle(): (row: Told) => string {
  const { t } = useTranslation();
  const words = useWords();
  return useMemo(() => {
    const named = (key: string, value: unknown) => t(`${key}.${value}` as never, { defaultValue: String(value ?? '') });
    const device = ({ browser, system }: { browser?: unknown; system?: unknown }) =>
      browser && system
        ? t('people.deviceOn', { browser, system } as never)
        : browser || system || t('people.unknownDevice');
    return ({ kind, data, count }) => {
      const failure = String(data.failure_class ?? '');
      const said = {
        ...data,
        count,
        failure: failure ? words.failureClass(failure) : t('notifications.noReason'),
        role: named('people.roles', data.role),
        device: device(data),
        change: named('notifications.change', data.change),
        defaultValue: kind,
      };
      return String(t(`notifications.kind.${kind.replace('.', '_')}` as never, said as never));
    };
  }, [t, words]);
}

/** The title of a group of notifications. */
export function useGroupTitle(): (line: Line) => string {
  const { t } = useTranslation();
  return (line) => {
    const { kind, data } = line.rows[0];
    const name = kind.replace('.', '_');
    // A run that is retried notifies of each attempt; a version notifies once.
    const count = line.isOfSubject && !kind.startsWith('run.') ? line.rows.length : subjectsOf(line);
    const key = line.isOfSubject ? `notifications.groupOf.${name}` : `notifications.group.${name}`;
    return String(t(key as never, { ...data, count, defaultValue: `${kind} (${line.rows.length})` } as never));
  };
}

/** The page of a notification, from the path that the server gives. */
export function linkOf(path: string): LinkProps {
  const url = new URL(path, 'http://portal');
  return { to: url.pathname, search: Object.fromEntries(url.searchParams) } as LinkProps;
}
