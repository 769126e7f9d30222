/** The annotations of a picture, as the server of a test answers them. */
export const annotations = (objects: object[], extra: object = {}) => ({
  ...{ width: 640, height: 480, source: 'human', source_model: null, revision: 4, annotator: 'annotator-7' },
  ...{ agreement: 0.9, audit_state: null, labels: [], attributes: {}, objects_total: objects.length },
  objects,
  relations: [],
  ...extra,
});

const box = (id: string, label: string, x: number, extra: object = {}) => ({
  ...{ id, label, kind: 'box', box: [x, 20, 30, 40], bounds: [x, 20, 30, 40], area: 1200 },
  ...extra,
});

export const STREET = [
  box('01', 'car', 10),
  box('02', 'bike', 100, { attributes: { colour: 'red', parked: true } }),
  box('03', 'car', 200),
];
