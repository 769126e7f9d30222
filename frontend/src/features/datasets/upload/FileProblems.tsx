import { Alert } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { visible } from '@/shared/ui/visible';
import type { FileProblem } from './chosen';
import classes from './upload.module.css';

const SHOWN = 200;

/** A problem that comes with its own words. */
interface NamedProblem {
  path: string;
  words: string;
}

interface FileProblemsProps {
  title: string;
  problems: readonly (FileProblem | NamedProblem)[];
  /** The ways to repair them. */
  children?: ReactNode;
}

/** Files with which something is wrong, each with what it is. */
export function FileProblems({ title, problems, children }: FileProblemsProps) {
  const { t } = useTranslation();
  if (problems.length === 0) return null;
  return (
    <Alert color="orange" icon={<IconAlertTriangle size={18} />} title={title}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls must be reachable by keyboard */}
      <ul className={classes.problems} tabIndex={0} aria-label={title}>
        {problems.slice(0, SHOWN).map((problem) => (
          <li key={problem.path}>
            <code>{visible(problem.path) || '""'}</code> ·{' '}
            {'words' in problem ? problem.words : t(`upload.problem.${problem.kind}`)}
          </li>
        ))}
      </ul>
      {problems.length > SHOWN && t('upload.moreProblems', { count: problems.length - SHOWN })}
      {children}
    </Alert>
  );
}
