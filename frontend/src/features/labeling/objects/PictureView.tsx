import { Alert, Button, Group, Kbd, Text } from '@mantine/core';
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { LabelTask } from '@/api/contract/labeling';
import { Page } from '@/shared/ui/Page';
import { confirmUndo, notifyError, notifySuccess, notifyWarning } from '@/shared/ui/undo';
import { visible } from '@/shared/ui/visible';
import type { Editor } from '../canvas/editor';
import { type Clipboard, clipOf, copiesOf, idsNeeded } from '../canvas/edits';
import { newObjectId, objectsOf } from '../canvas/model';
import { TaskNotice } from '../TaskNotice';
import { ActiveTime } from '../workspace/activeTime';
import type { Gone } from '../workspace/leases';
import { Refused } from '../workspace/Refused';
import { historyOf } from './editing';
import { IssuesPanel } from './IssuesPanel';
import type { ImageCache } from './imageCache';
import { marksOf } from './issues';
import { KeysDialog } from './KeysDialog';
import type { CommandName } from './keymap';
import { type PictureLook, PLAIN } from './look';
import type { ObjectBench, PictureGroup } from './objectBench';
import classes from './objects.module.css';
import { missingInDocument, ontologyOfTask, withoutUnasked } from './ontology';
import { PictureHeader } from './PictureHeader';
import { Problems } from './Problems';
import { SidePanel } from './SidePanel';
import { Stage } from './Stage';
import { toolsOfTask } from './tools';
import { useCanvasEditor } from './useCanvasEditor';
import { useDrawing } from './useDrawing';
import { useKeymap, useKeySheet } from './useKeymap';
import { useObjectKeys } from './useObjectKeys';
import { usePicture, wholePicture } from './usePicture';
import { useTiles } from './useTiles';
import { useValueWindow, ValueWindowControl } from './ValueWindowControl';

interface PictureViewProps {
  task: LabelTask;
  bench: ObjectBench;
  picture: PictureGroup;
  images: ImageCache;
  clipboard: RefObject<Clipboard>;
  gone: Gone | null;
  onTakeHere: () => void;
}

/** The picture under work; the next one takes its place, since a page that is built anew takes longer to paint. */
export function PictureView({ task, bench, picture, images, clipboard, gone, onTakeHere }: PictureViewProps) {
  const { t } = useTranslation();
  const slot = picture.slots[0];
  const ontology = useMemo(() => ontologyOfTask(task), [task]);
  const readOnly = gone === 'elsewhere';
  const [time, setTime] = useState(() => new ActiveTime());
  const [look, setLook] = useState<PictureLook>(PLAIN);
  const [showMissing, setShowMissing] = useState(false);
  const [shownId, setShownId] = useState(picture.id);
  if (shownId !== picture.id) {
    setShownId(picture.id);
    setTime(new ActiveTime());
    setLook(PLAIN);
    setShowMissing(false);
  }
  const [changesKeys, setChangesKeys] = useState(false);
  const [keymap, setKeymap] = useKeymap();
  const stage = useRef<HTMLDivElement>(null);
  const onChange = useCallback(
    (editor: Editor) => {
      time.touch(Date.now());
      bench.draft(picture.id, { document: editor.document, history: historyOf(editor) });
    },
    [bench, picture.id, time],
  );
  const canvas = useCanvasEditor({ ...picture, clipboard, readOnly, onChange });
  const { editing, controller, follow } = canvas;
  const upcoming = bench.upcoming.slice(0, 3).flatMap(({ slots }) => slots.map(wholePicture));
  const address = slot ? wholePicture(slot) : '';
  const image = usePicture(images, address, upcoming);
  const tiles = useTiles(slot?.item_id ?? '', slot?.tiled ?? false);
  const [valueWindow, setValueWindow] = useValueWindow(task.id);
  const shownLook = useMemo(() => ({ ...look, window: valueWindow }), [look, valueWindow]);
  const drawing = useDrawing(ontology, editing);
  useKeySheet(keymap, ontology.labels);
  useEffect(() => time.touch(Date.now()), [time]);

  const work = () => {
    const editor = controller?.session.editor ?? canvas.opened;
    return { document: editor.document, history: historyOf(editor) };
  };
  const submit = () => {
    if (readOnly) return;
    const draft = work();
    const missing = missingInDocument(draft.document, ontology);
    setShowMissing(missing.length > 0);
    const [first] = missing;
    if (!first) {
      void bench.submit({ ...draft, document: withoutUnasked(draft.document, ontology) }, time.take(Date.now()));
      return;
    }
    editing.do({ type: 'select', ids: first.object === null ? [] : [first.object] });
  };
  const skip = (reason = '') => {
    void bench.skip(picture.id, reason).then((skipped) => {
      if (!skipped) return;
      const message = t('labeling.skip.done', { name: skipped.path.slice(skipped.path.lastIndexOf('/') + 1) });
      const rollback = () => void bench.unskip(skipped).catch(notifyError);
      confirmUndo({ message, commit: () => {}, rollback, delayMs: 8000 });
    }, notifyError);
  };
  const propagate = () => {
    const chosen = editing.selected;
    const clip = clipOf(editing.document, chosen.length > 0 ? chosen : objectsOf(editing.document).map(({ id }) => id));
    const copies = copiesOf(clip, Array.from({ length: idsNeeded(clip) }, newObjectId), 0, 0);
    const count = copies.objects.length;
    if (count > 0 && bench.propagate(copies)) notifySuccess(t('labeling.objects.propagated', { count }));
    else notifyWarning(t('labeling.objects.notPropagated'));
  };
  const onCommand = (command: CommandName) => {
    time.touch(Date.now());
    if (command === 'submit') submit();
    else if (command === 'back') void bench.back(work());
    else if (command === 'skip') skip();
    else if (command === 'propagate') propagate();
    else if (command === 'issues') stage.current?.parentElement?.querySelector<HTMLElement>('[data-issues]')?.focus();
    else drawing.onCommand(command);
  };
  useObjectKeys({
    controller,
    keymap,
    labels: ontology.labels,
    stage: () => stage.current,
    onCommand,
    onLabel: drawing.onLabel,
    onCanvas: follow,
  });
  if (!slot) return null;
  const missing = showMissing ? missingInDocument(editing.document, ontology).length : 0;
  return (
    <Page fill>
      <PictureHeader
        task={task}
        bench={bench}
        picture={picture}
        look={look}
        onLook={setLook}
        valueWindow={<ValueWindowControl source={tiles.source} window={valueWindow} onChange={setValueWindow} />}
        onKeys={() => setChangesKeys(true)}
        onSkip={skip}
        onBack={() => onCommand('back')}
        onSubmit={submit}
        readOnly={readOnly}
      />
      <TaskNotice task={task} />
      <Refused bench={bench} />
      <GoneNotice gone={gone} onTakeHere={onTakeHere} />
      <Problems problems={picture.problems} editing={editing} />
      {missing > 0 && (
        <Alert color="orange" variant="light" mb="sm" py={6} role="alert">
          {t('labeling.objects.missing', { count: missing })}
        </Alert>
      )}
      <div className={classes.layout} ref={stage}>
        <Stage
          name={visible(slot.path)}
          tools={toolsOfTask(ontology)}
          keymap={keymap}
          ontology={ontology}
          canvas={canvas}
          image={image}
          tiles={tiles}
          drawing={drawing}
          look={shownLook}
          readOnly={readOnly}
          marks={[
            ...picture.problems.flatMap(({ at }) => (at ? [{ at, isOpen: true }] : [])),
            ...marksOf(slot.issues ?? [], editing.document),
          ]}
          onWindow={setValueWindow}
          onReload={() => images.load(address)}
        />
        <SidePanel
          picture={picture.id}
          editing={editing}
          ontology={ontology}
          activeLabel={drawing.label}
          showMissing={showMissing}
          withIssue={new Set((slot.issues ?? []).flatMap(({ object }) => object ?? []))}
          guideline={task.guideline}
          onLabel={drawing.onLabel}
        >
          {(picture.returned || (slot.issues?.length ?? 0) > 0) && (
            <IssuesPanel key={slot.id} slot={slot} editing={editing} />
          )}
        </SidePanel>
      </div>
      <Group gap={6} mt={6}>
        <Text size="xs" c="dimmed">
          {t('labeling.objects.hint')}
        </Text>
        <Kbd size="xs">?</Kbd>
      </Group>
      {changesKeys && (
        <KeysDialog
          keymap={keymap}
          labels={ontology.labels}
          onChange={setKeymap}
          onClose={() => setChangesKeys(false)}
        />
      )}
    </Page>
  );
}

/** The picture is another window's, or its reservation has run out. */
function GoneNotice({ gone, onTakeHere }: { gone: Gone | null; onTakeHere: () => void }) {
  const { t } = useTranslation();
  if (gone === null) return null;
  return (
    <Alert color="orange" variant="light" mb="sm" py={6} role="status">
      {t(gone === 'elsewhere' ? 'labeling.objects.elsewhere' : 'labeling.objects.lost')}{' '}
      {gone === 'elsewhere' && (
        <Button size="compact-xs" variant="default" onClick={onTakeHere}>
          {t('labeling.objects.takeHere')}
        </Button>
      )}
    </Alert>
  );
}
