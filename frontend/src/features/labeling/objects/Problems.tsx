import { Alert, UnstyledButton } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { objectsOf } from '../canvas/model';
import type { DocumentProblem } from './documentTable';
import type { Editing } from './editing';
import classes from './objects.module.css';

/** The faults for which the server refused a document; a press selects the object. */
export function Problems({ problems, editing }: { problems: readonly DocumentProblem[]; editing: Editing }) {
  const { t } = useTranslation();
  if (problems.length === 0) return null;
  const objectAt = (pointer: string) => {
    const index = /^objects\/(\d+)/.exec(pointer)?.[1];
    return index === undefined ? undefined : objectsOf(editing.document)[Number(index)];
  };
  return (
    <Alert color="red" variant="light" mb="sm" py={6} role="alert" title={t('labeling.objects.refusedTitle')}>
      {problems.map(({ pointer, texts }) => {
        const object = objectAt(pointer);
        const text = texts.join(' ');
        if (!object) return <div key={pointer}>{text}</div>;
        return (
          <UnstyledButton
            key={pointer}
            fz="sm"
            className={classes.problem}
            td="underline"
            onClick={() => editing.do({ type: 'select', ids: [object.id] })}
          >
            {text}
          </UnstyledButton>
        );
      })}
    </Alert>
  );
}
